package config

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// seeds are real configuration files, so that the fuzzer starts from something that parses.
func seeds(f *testing.F) [][]byte {
	f.Helper()
	paths, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(paths) < 4 {
		f.Fatalf("seeds are missing: %v %v", paths, err)
	}
	all := [][]byte{[]byte(Sample()), []byte(switchedOn())}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		all = append(all, content)
	}
	for _, seed := range all {
		if _, err := Parse("seed", seed); err != nil {
			f.Fatalf("a seed does not parse: %v\n%s", err, seed)
		}
	}
	return all
}

var placePattern = regexp.MustCompile(`^f:(\d+):(\d+)$`)

// FuzzParse: whatever stands in a file, there is an answer with a place in that file, or a File that its own view
// describes.
func FuzzParse(f *testing.F) {
	for _, seed := range seeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		file, err := Parse("f", content)
		if err != nil {
			checkPlaces(t, err, content)
			return
		}
		view := file.View(ViewOptions{Reveal: true})
		again, err := Parse("f", view)
		if err != nil {
			t.Fatalf("its own view does not parse: %v\n%s", err, view)
		}
		if second := again.View(ViewOptions{Reveal: true}); !bytes.Equal(view, second) {
			t.Fatalf("its view changes:\n%s\n%s", view, second)
		}
	})
}

func checkPlaces(t *testing.T, err error, content []byte) {
	t.Helper()
	var all Errors
	if !errors.As(err, &all) || len(all) == 0 {
		t.Fatalf("no Errors: %v", err)
	}
	count := bytes.Count(content, []byte("\n")) + bytes.Count(content, []byte("\r")) + 1
	for _, one := range all {
		parts := placePattern.FindStringSubmatch(one.Where)
		if parts == nil {
			t.Fatalf("no place: %v", one)
		}
		line, lineErr := strconv.Atoi(parts[1])
		column, columnErr := strconv.Atoi(parts[2])
		if lineErr != nil || columnErr != nil || line < 1 || line > count || column < 1 {
			t.Fatalf("no such place in %d lines: %v", count, one)
		}
		if strings.ContainsAny(one.Error(), "\n\x1b") {
			t.Fatalf("an error that is no line: %q", one)
		}
	}
}

// FuzzUseContext: an edit changes what it should and nothing beyond one line, or there is none.
func FuzzUseContext(f *testing.F) {
	for _, seed := range seeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		file, err := Parse("f", content)
		if err != nil {
			return
		}
		for _, name := range file.names() {
			edited, err := withCurrentContext("f", content, name)
			if err != nil {
				continue
			}
			after, err := Parse("f", edited)
			if err != nil || after.CurrentContext.Value != name {
				t.Fatalf("current_context is not %q: %v\n%s", name, err, edited)
			}
			start := 0
			for start < len(content) && start < len(edited) && content[start] == edited[start] {
				start++
			}
			end := 0
			for end < len(content)-start && end < len(edited)-start && content[len(content)-1-end] == edited[len(edited)-1-end] {
				end++
			}
			if gone := content[start : len(content)-end]; bytes.ContainsAny(gone, "\n\r#") {
				t.Fatalf("%q was removed from\n%s", gone, content)
			}
		}
	})
}

// FuzzMask: masking is total, and masking what is masked changes nothing that would reveal more.
func FuzzMask(f *testing.F) {
	for _, seed := range []string{
		"redis://:hunter2@h:1/0", "postgres://u:p@a:1,b:2/d?sslmode=x&password=y", "host=h password='a b'", "sqlite:x.db?_auth_pass=p",
		"unix:///run/r.sock?db=1", "127.0.0.1:6379", "redis-sentinel://:p@a:1,b:2?master=m",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, conn string) {
		shown := Mask(conn)
		if at := strings.LastIndex(conn, "@"); at >= 0 {
			_, rest, _ := strings.Cut(conn[:at], "://")
			if _, password, found := strings.Cut(rest, ":"); found && len(password) > len("application_name") && strings.Contains(shown, password) {
				t.Fatalf("Mask(%q) = %q", conn, shown)
			}
		}
		_, _ = maskReferences(conn)
	})
}
