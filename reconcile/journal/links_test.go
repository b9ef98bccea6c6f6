//go:build unix

package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestOpenRefusesLinksAndFilesOpenToAll(t *testing.T) {
	folder := t.TempDir()
	target := filepath.Join(folder, "target")
	link, dangling := filepath.Join(folder, "link"), filepath.Join(folder, "dangling")
	must(t, os.WriteFile(target, nil, 0o600))
	must(t, os.Symlink(target, link))
	must(t, os.Symlink(filepath.Join(folder, "nowhere"), dangling))
	public := filepath.Join(folder, "public")
	must(t, os.WriteFile(public, nil, 0o600))
	must(t, os.Chmod(public, 0o604))
	for path, want := range map[string]error{
		link: errNotRegular, dangling: errNotRegular, folder: errNotRegular, os.DevNull: errNotRegular, public: errOpenToAll,
	} {
		j, err := Open(t.Context(), path, testOptions())
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
		if err == nil {
			j.Close()
		}
	}
	if _, err := os.Lstat(filepath.Join(folder, "nowhere")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a file was made behind a dangling link")
	}
}
