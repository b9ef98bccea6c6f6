package tui

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"github.com/idemctl/idemctl/inspect"
)

// updating says whether the views are to be written anew: teatest brings the flag.
func updating() bool { return flag.Lookup("update").Value.String() == "true" }

// views are the screens whose looks are kept.
var views = []struct {
	name  string
	given func(*fake)
	keys  string
}{
	{"overview", nil, ""},
	{"overview-empty", func(f *fake) { f.tasks, f.queues, f.findings, f.servers = nil, nil, nil, nil }, ""},
	{"tasks", nil, ":archived<enter>j  "},
	{"tasks-retry", nil, ":retry<enter>"},
	{"tasks-wide", nil, ":archived<enter>w"},
	{"tasks-filter", nil, ":archived<enter>/retried > 2"},
	{"tasks-unicode", unicodeTasks, ":tasks<enter>"},
	{"detail", nil, ":archived<enter>j<enter>"},
	{"detail-payload", nil, ":archived<enter><enter>G"},
	{"detail-retry", nil, ":retry<enter><enter>"},
	{"findings", nil, ":findings<enter>l"},
	{"locks", nil, ":locks<enter>"},
	{"ttl", nil, ":ttl<enter>"},
	{"ttl-one", nil, ":ttl<enter>j<enter>hhh"},
	{"plan", nil, ":archived<enter>*R"},
	{"plan-confirm", func(f *fake) { f.place.Protected = true }, ":archived<enter>*RA"},
	{"plan-applied", nil, ":archived<enter>*RArequeue 6<enter>"},
	{"journal", nil, ":journal<enter>"},
	{"journal-run", nil, ":journal<enter><enter>"},
	{"help", nil, ":archived<enter>?"},
	{"jump", nil, ":ta"},
	{"command", nil, ":archived<enter>@"},
}

// unicodeTasks have names that are wide, combined, or no text at all.
func unicodeTasks(f *fake) {
	f.tasks = nil
	for i, id := range []string{"日本語の支払い", "e\u0301clair", "bytes\xff\xfe", "rtl-\u202eevil", "tab\tand\nnewline", strings.Repeat("long-", 30)} {
		j := fakeTask(i, "payments", inspect.StateArchived)
		j.Task.ID = id
		f.tasks = append(f.tasks, j)
	}
}

var sizes = [][2]int{{80, 24}, {120, 40}, {40, 12}}

func TestViews(t *testing.T) {
	for _, v := range views {
		for _, s := range sizes {
			t.Run(fmt.Sprintf("%s.%dx%d", v.name, s[0], s[1]), func(t *testing.T) {
				f := newFake()
				if v.given != nil {
					v.given(f)
				}
				d := drive(t, f)
				d.send(size(s[0], s[1]))
				d.keys(v.keys)
				same(t, fmt.Sprintf("%s.%dx%d", v.name, s[0], s[1]), s[0], s[1], d.View())
			})
		}
	}
}

// same compares a view with what is kept, and makes sure that it fits.
func same(t *testing.T, name string, width, height int, view string) {
	t.Helper()
	lines := strings.Split(view, "\n")
	if len(lines) != height {
		t.Errorf("%d lines, want %d", len(lines), height)
	}
	for i, l := range lines {
		if n := ansi.StringWidth(l); n != width {
			t.Errorf("line %d has %d cells, want %d: %q", i+1, n, width, l)
		}
		lines[i] = strings.TrimRight(l, " ")
	}
	got := strings.Join(lines, "\n") + "\n"
	file := filepath.Join("testdata", name+".txt")
	if updating() {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the view is not as it was (go test ./tui -update keeps it, after a look):\n%s\nit was:\n%s", got, want)
	}
}

// What colour says is said without it, too: painted and plain views have one text.
func TestColourAddsNothingToTheText(t *testing.T) {
	for _, dark := range []bool{true, false} {
		for _, v := range views {
			var texts [2]string
			for i, profile := range []termenv.Profile{termenv.Ascii, termenv.TrueColor} {
				f := newFake()
				if v.given != nil {
					v.given(f)
				}
				d := drive(t, f, func(o *Options) { o.renderer = rendererFor(profile, dark) })
				d.keys(v.keys)
				view := d.View()
				texts[i] = ansi.Strip(view)
				if painted := view != texts[i]; painted != (profile == termenv.TrueColor) {
					t.Errorf("%s: painted is %v under profile %v", v.name, painted, profile)
				}
			}
			// The cursor of a line being typed is the one exception.
			texts[0] = strings.ReplaceAll(texts[0], "▏", " ")
			if strings.Join(strings.Fields(texts[0]), " ") != strings.Join(strings.Fields(texts[1]), " ") {
				t.Errorf("%s says something else in colour:\n%s\n%s", v.name, texts[0], texts[1])
			}
		}
	}
}

func rendererFor(profile termenv.Profile, dark bool) *lipgloss.Renderer {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(profile)
	r.SetHasDarkBackground(dark)
	return r
}
