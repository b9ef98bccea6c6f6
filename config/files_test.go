package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func write(t *testing.T, path, content string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// onlyFile fails when a temporary file was left beside path.
func onlyFile(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			t.Errorf("%s was left behind", entry.Name())
		}
	}
}

func modeOf(t *testing.T, path string) fs.FileMode {
	t.Helper()
	state, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return state.Mode().Perm()
}

func TestInitWritesAPrivateSampleInNewDirectories(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "config.yaml")
	if err := Init(path, false); err != nil {
		t.Fatal(err)
	}
	if read(t, path) != Sample() {
		t.Error("not the sample")
	}
	onlyFile(t, path)
	if runtime.GOOS != "windows" && (modeOf(t, path) != 0o600 || modeOf(t, filepath.Dir(path)) != 0o700) {
		t.Errorf("modes %v %v", modeOf(t, path), modeOf(t, filepath.Dir(path)))
	}
}

func TestInitOverwritesOnlyWhenForced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	write(t, path, "# mine\n", 0o644)
	err := Init(path, false)
	var exists *Error
	if !errors.Is(err, fs.ErrExist) || !errors.As(err, &exists) || exists.Hint == "" {
		t.Errorf("got %v", err)
	}
	if read(t, path) != "# mine\n" {
		t.Error("the file was touched")
	}
	if err := Init(path, true); err != nil {
		t.Fatal(err)
	}
	if read(t, path) != Sample() || modeOf(t, path) != 0o600 {
		t.Errorf("forced: mode %v", modeOf(t, path))
	}
	onlyFile(t, path)
}

func TestUseContextChangesOneValueAndNoOtherByte(t *testing.T) {
	const contexts = "contexts:\n  - name: a   # the first\n  - {name: b}\n  - name: \"true\"\n  - name: \"007\"\n"
	for name, c := range map[string]struct{ before, use, after string }{
		"plain":        {"# top\ncurrent_context:   a   # now\n\n" + contexts, "b", "# top\ncurrent_context:   b   # now\n\n" + contexts},
		"quoted":       {"current_context: 'a' # now\n" + contexts, "b", "current_context: b # now\n" + contexts},
		"double":       {"current_context: \"a\"\n" + contexts, "b", "current_context: b\n" + contexts},
		"below":        {contexts + "current_context: a\n# end", "b", contexts + "current_context: b\n# end"},
		"no line end":  {contexts + "current_context: a", "b", contexts + "current_context: b"},
		"needs quotes": {"current_context: a\n" + contexts, "true", "current_context: \"true\"\n" + contexts},
		"number":       {"current_context: 1\n" + contexts, "007", "current_context: \"007\"\n" + contexts},
		"the same":     {"current_context: 'a'\n" + contexts, "a", "current_context: a\n" + contexts},
		"unknown yet":  {"current_context: gone\n" + contexts, "b", "current_context: b\n" + contexts},
		"no value":     {"current_context: # none\n" + contexts, "b", "current_context: b # none\n" + contexts},
		"null":         {"current_context: ~ # none\n" + contexts, "b", "current_context: b # none\n" + contexts},
		"word null":    {"current_context: null\n" + contexts, "b", "current_context: b\n" + contexts},
		"absent":       {contexts, "b", "current_context: b\n" + contexts},
		"absent below a comment": {
			"# of the file\n\n# of the contexts\n" + contexts, "b", "# of the file\n\ncurrent_context: b\n# of the contexts\n" + contexts,
		},
		"absent in a document": {"---\n" + contexts, "b", "---\ncurrent_context: b\n" + contexts},
		"CRLF": {
			strings.ReplaceAll("current_context: a # now\n"+contexts, "\n", "\r\n"), "b",
			strings.ReplaceAll("current_context: b # now\n"+contexts, "\n", "\r\n"),
		},
		"absent with CRLF": {
			strings.ReplaceAll(contexts, "\n", "\r\n"), "b", strings.ReplaceAll("current_context: b\n"+contexts, "\n", "\r\n"),
		},
		"byte order mark":        {"\ufeffcurrent_context: a\n" + contexts, "b", "\ufeffcurrent_context: b\n" + contexts},
		"absent behind a mark":   {"\ufeff" + contexts, "b", "\ufeffcurrent_context: b\n" + contexts},
		"wide characters before": {"{contexts: [{name: äö漢}, {name: b}], current_context: äö漢} # ü\n", "b", "{contexts: [{name: äö漢}, {name: b}], current_context: b} # ü\n"},
		"wide characters after":  {"{contexts: [{name: äö漢}, {name: b}], current_context: b} # ü\n", "äö漢", "{contexts: [{name: äö漢}, {name: b}], current_context: \"äö漢\"} # ü\n"},
		"flow":                   {"{ \"current_context\": \"a\", contexts: [{name: a}, {name: b}]}", "b", "{ \"current_context\": b, contexts: [{name: a}, {name: b}]}"},
		"absent in flow":         {"{ contexts: [{name: a}, {name: b}]}", "b", "{current_context: b,  contexts: [{name: a}, {name: b}]}"},
		"indented":               {"  current_context: a\n  contexts: [{name: a}, {name: b}]\n", "b", "  current_context: b\n  contexts: [{name: a}, {name: b}]\n"},
		"absent and indented":    {"  contexts: [{name: a}, {name: b}]\n", "b", "  current_context: b\n  contexts: [{name: a}, {name: b}]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.yaml")
			write(t, path, c.before, 0o640)
			if err := UseContext(path, c.use); err != nil {
				t.Fatal(err)
			}
			if got := read(t, path); got != c.after {
				t.Errorf("\n got %q\nwant %q", got, c.after)
			}
			if mode := modeOf(t, path); runtime.GOOS != "windows" && mode != 0o640 {
				t.Errorf("mode %v", mode)
			}
			onlyFile(t, path)
		})
	}
}

func TestUseContextWritesNothingWhenItCannotBeRight(t *testing.T) {
	const contexts = "contexts:\n  - name: a\n  - name: b\n"
	for name, c := range map[string]struct{ before, use, want string }{
		"unknown name": {contexts, "c", `config.yaml: no context is named "c", expected one of a, b; did you mean "a"?`},
		"mistake elsewhere": {
			contexts + "    settle: x\n", "a",
			`config.yaml:4:13: contexts[1].settle: "x" is not valid, expected a duration such as 90s, 2m or 30d`,
		},
		"anchor": {
			"current_context: &c a\n" + contexts, "b",
			`config.yaml:1:1: current_context is not a plain value on one line, expected it to be set to "b" by hand`,
		},
		"several lines": {
			"current_context: >-\n  a\n" + contexts, "b",
			`config.yaml:1:1: current_context is not a plain value on one line, expected it to be set to "b" by hand`,
		},
		"syntax": {"contexts: [", "a", "config.yaml:1:11: not valid YAML: sequence end token ']' not found, expected YAML 1.2"},
		"empty":  {"", "a", `config.yaml: no context is named "a", expected one to be declared first`},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			path := filepath.Join(folder, "config.yaml")
			write(t, path, c.before, 0o600)
			err := UseContext(path, c.use)
			if err == nil || strings.TrimPrefix(err.Error(), folder+string(filepath.Separator)) != c.want {
				t.Errorf("\n got %v\nwant %s", err, c.want)
			}
			if got := read(t, path); got != c.before {
				t.Errorf("the file was changed to %q", got)
			}
		})
	}
	if err := UseContext(filepath.Join(t.TempDir(), "none.yaml"), "a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func TestUseContextKeepsSymbolicLinks(t *testing.T) {
	folder := t.TempDir()
	target, link := filepath.Join(folder, "real.yaml"), filepath.Join(folder, "config.yaml")
	write(t, target, "contexts: [{name: a}, {name: b}]\n", 0o600)
	if err := os.Symlink("real.yaml", link); err != nil {
		t.Fatal(err)
	}
	if err := UseContext(link, "b"); err != nil {
		t.Fatal(err)
	}
	if state, err := os.Lstat(link); err != nil || state.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v %v", state, err)
	}
	if !strings.HasPrefix(read(t, target), "{current_context") && !strings.HasPrefix(read(t, target), "current_context: b\n") {
		t.Errorf("target holds %q", read(t, target))
	}
	if err := Init(link, true); err != nil {
		t.Fatal(err)
	}
	if read(t, target) != Sample() {
		t.Error("a forced init replaced the link instead of its target")
	}
}

func TestOnlyPasswordsThatEverybodyMayReadAreWarnedOf(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		mode fs.FileMode
		want string
	}{
		"password":           {"contexts:\n  - name: a\n    redis: {password: p}\n", 0o644, ":3:23: everybody may read this password (mode 0644); run chmod 600 "},
		"uri":                {"contexts:\n  - name: a\n    redis: {uri: 'redis://:p@h:1'}\n", 0o604, ":3:18: everybody"},
		"dsn":                {"contexts:\n  - name: a\n    ledgers: [{name: m, dsn: 'postgres://u:p@h/d'}]\n", 0o644, ":3:30: everybody"},
		"partly a reference": {"contexts:\n  - name: a\n    redis: {password: 'p${A}'}\n", 0o644, ":3:23: everybody"},
		"private":            {"contexts:\n  - name: a\n    redis: {password: p}\n", 0o640, ""},
		"references":         {"contexts:\n  - name: a\n    redis: {password: '${A}', uri: 'redis://:${A}@h:1'}\n", 0o644, ""},
		"secret files":       {"contexts:\n  - name: a\n    redis: {password: 'file:/p'}\n", 0o644, ""},
		"none":               {"contexts:\n  - name: a\n    redis: {uri: 'redis://h:1'}\n", 0o644, ""},
	} {
		path := filepath.Join(t.TempDir(), "config.yaml")
		write(t, path, c.text, c.mode)
		env := Environment{ReadFile: os.ReadFile, Stat: os.Stat}
		file, err := Load(env, Location{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case c.want == "" && len(file.Warnings) != 0:
			t.Errorf("%s: %v", name, file.Warnings)
		case c.want != "" && (len(file.Warnings) != 1 || !strings.HasPrefix(file.Warnings[0].String(), path+c.want)):
			t.Errorf("%s: got %v, want %s", name, file.Warnings, c.want)
		}
	}
}

// TestUseContextKeepsTheOwner needs root to give a file away; others replace files of their own only, and keep
// nothing but themselves.
func TestUseContextKeepsTheOwner(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() != 0 {
		return
	}
	path := filepath.Join(t.TempDir(), "config.yaml")
	write(t, path, "contexts: [{name: a}]\n", 0o640)
	if err := os.Chown(path, 4711, 4712); err != nil {
		t.Fatal(err)
	}
	if err := UseContext(path, "a"); err != nil {
		t.Fatal(err)
	}
	state, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	owner := reflect.ValueOf(state.Sys()).Elem()
	if uid, gid := owner.FieldByName("Uid").Uint(), owner.FieldByName("Gid").Uint(); uid != 4711 || gid != 4712 || modeOf(t, path) != 0o640 {
		t.Errorf("owner %d:%d, mode %v", uid, gid, modeOf(t, path))
	}
}
