package config

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// machine is an Environment with the given variables and files, and nothing of the real machine. Paths are
// absolute; the home directory is /home/op.
func machine(variables map[string]string, files map[string]string) Environment {
	tree := fstest.MapFS{}
	for path, content := range files {
		tree[strings.TrimPrefix(path, "/")] = &fstest.MapFile{Data: []byte(content), Mode: 0o600}
	}
	return Environment{
		LookupEnv: func(name string) (string, bool) {
			value, set := variables[name]
			return value, set
		},
		Home: "/home/op",
		ReadFile: func(path string) ([]byte, error) {
			return tree.ReadFile(strings.TrimPrefix(path, "/"))
		},
		Stat: func(path string) (fs.FileInfo, error) {
			return tree.Stat(strings.TrimPrefix(path, "/"))
		},
	}
}

const defaultPath = "/home/op/.config/idemctl/config.yaml"

// lines splits an error of this package into its mistakes.
func lines(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	var all Errors
	if errors.As(err, &all) {
		if len(all) == 0 {
			t.Fatal("Errors without a mistake")
		}
		return strings.Split(all.Error(), "\n")
	}
	var one *Error
	if !errors.As(err, &one) {
		t.Fatalf("error %T is neither Error nor Errors: %v", err, err)
	}
	return []string{one.Error()}
}

func mustParse(t *testing.T, text string) *File {
	t.Helper()
	file, err := Parse("config.yaml", []byte(text))
	if err != nil {
		t.Fatalf("Parse: %v\n%s", err, text)
	}
	return file
}
