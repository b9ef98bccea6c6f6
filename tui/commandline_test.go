package tui

import (
	"encoding/base64"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/retry"
	"github.com/idemctl/idemctl/internal/visible"
	"github.com/idemctl/idemctl/observed"
)

// hostileIDs are task IDs that a shell, or who reads them, would take for more.
var hostileIDs = []string{
	"-x", "--help", "-", "--", "two words", " ", "it's", `say "no"`, "$(id)", "`id`", "a;id", "a\nid\n", "\n", "a\rid", "\x1b[31m", "\x7f",
	"a\u202eb", "\u2066x", "a\u00adb", "\u200b", "\u3164", "\xff\xfe", "a\xe6\x97", "\ufffd", `back\slash`, "~", "!!", "*", "é b", "\U000e0001",
}

// words are what a shell passes on of a line.
func words(t *testing.T, line string) []string {
	t.Helper()
	out, err := exec.Command("bash", "-c", `idemctl() { printf '%s\0' "$@"; }`+"\n"+line).Output()
	if err != nil {
		t.Fatalf("bash: %v: %s", err, line)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// clipboards are the texts that the terminal was told to take.
func (d *driver) clipboards() []string {
	d.t.Helper()
	var texts []string
	for _, m := range regexp.MustCompile("\x1b\\]52;c;([^\x07]*)\x07").FindAllStringSubmatch(d.out.String(), -1) {
		text, err := base64.StdEncoding.DecodeString(m[1])
		if err != nil {
			d.t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	return texts
}

// withID is a Redis that holds one archived task.
func withID(ref inspect.Ref) *fake {
	f := newFake()
	j := fakeTask(0, ref.Queue, inspect.StateArchived)
	j.Task.Ref = ref
	f.tasks, f.findings = nil, nil
	f.queues = []string{ref.Queue}
	f.add(j)
	return f
}

// A newline in what is pasted runs a command, and what does not show may be
// anything.
func TestCopiedIDsShowAllOfThemselvesAndAreOneWordToAShell(t *testing.T) {
	for _, id := range hostileIDs {
		d := drive(t, withID(inspect.Ref{Queue: "default", ID: id}))
		d.keys(":archived<enter>y")
		texts := d.clipboards()
		if len(texts) != 1 {
			t.Errorf("%q: %q was copied", id, texts)
			continue
		}
		if text := texts[0]; visible.Text(text) != text {
			t.Errorf("%q: the copy %q has characters that do not show", id, text)
		} else if got := words(t, "idemctl "+text); !slices.Equal(got, []string{id}) {
			t.Errorf("%q: the copy %s is %q to a shell", id, text, got)
		}
		d.sees("(quoted for a shell)")
	}
	for _, id := range []string{"7b0b5f0e-93f1-4ef1-9d4e-0d6a0a4d7d1e", "tenant:7/evt_1@x.y", "日本語", "größe-1"} {
		d := drive(t, withID(inspect.Ref{Queue: "default", ID: id}))
		d.keys(":archived<enter>y").lacks("quoted")
		if texts := d.clipboards(); !slices.Equal(texts, []string{id}) {
			t.Errorf("%q is copied as %q", id, texts)
		}
	}
}

// What is said of a long ID ends with a sign, and the copy is whole.
func TestLongIDsAreCopiedWholeAndNamedInPart(t *testing.T) {
	for end, id := range map[string]string{"…": strings.Repeat("0123", 300), "… (quoted for a shell)": strings.Repeat("0 12", 300)} {
		d := drive(t, withID(inspect.Ref{Queue: "default", ID: id}))
		d.keys(":archived<enter>y")
		if got := words(t, "idemctl "+d.clipboards()[0]); !slices.Equal(got, []string{id}) {
			t.Errorf("%q was copied", got)
		}
		if !strings.HasSuffix(d.flash, end) || len(d.flash) > 160 {
			t.Errorf("it says %q", d.flash)
		}
	}
}

func TestIDsWithANulAreNotCopied(t *testing.T) {
	d := drive(t, withID(inspect.Ref{Queue: "default", ID: "a\x00b"}))
	d.keys(":archived<enter>y").sees("not copied: the ID holds a NUL")
	if texts := d.clipboards(); texts != nil {
		t.Errorf("%q was copied", texts)
	}
}

// Whatever a screen makes of a command line, nothing unseen goes to the clipboard.
func TestNothingThatDoesNotShowIsCopied(t *testing.T) {
	for _, text := range []string{"idemctl explain a\nid", "a\x00", "a\u202eb", "\xff", "\t"} {
		var out strings.Builder
		if c, ok := copyText(&out, "the command line", text)().(copied); !ok || c.err == nil || out.Len() > 0 {
			t.Errorf("%q: %v, and the terminal was sent %q", text, c.err, out.String())
		}
	}
}

func TestTheCommandLineOfATaskNamesThatTask(t *testing.T) {
	for i, id := range hostileIDs {
		ref := inspect.Ref{Queue: hostileIDs[(i+3)%len(hostileIDs)], ID: id}
		f := withID(ref)
		f.place.Flags = "--context prod"
		d := drive(t, f)
		d.keys(":archived<enter><enter>@@")
		texts := d.clipboards()
		if len(texts) != 1 {
			t.Errorf("%q: %q was copied:\n%s", id, texts, d.screen())
			continue
		}
		got := words(t, texts[0])
		if i := slices.Index(got, "--"); i >= 0 {
			got = slices.Delete(got, i, i+1)
		} else if strings.HasPrefix(ref.ID, "-") || strings.HasPrefix(ref.Queue, "-") {
			t.Errorf("%s reads names as flags", texts[0])
		}
		if want := []string{"explain", "--context", "prod", ref.Queue, ref.ID}; !slices.Equal(got, want) {
			t.Errorf("%s is %q to a shell, not %q", texts[0], got, want)
		}
	}
	d := drive(t, withID(inspect.Ref{Queue: "default", ID: "a\x00b"}))
	d.keys(":archived<enter><enter>@").sees("no command does this")
}

// What stands in the footer must not be taken for the whole of a longer line.
func TestACommandLineThatIsCutSaysSo(t *testing.T) {
	id := strings.Repeat("0123456789", 100) + "END"
	line := "idemctl explain default " + id
	for _, screen := range [][2]int{{80, 24}, {100, 30}, {120, 40}, {40, 12}, {40, 6}, {30, 8}} {
		d := drive(t, withID(inspect.Ref{Queue: "default", ID: id}))
		d.send(size(screen[0], screen[1]))
		d.keys(":archived<enter><enter>@")
		said := cutSays.FindStringSubmatch(strings.Join(strings.Fields(strings.ReplaceAll(d.screen(), "»", " ")), " "))
		if said == nil {
			t.Errorf("%v: nothing says that the line is cut:\n%s", screen, d.screen())
			continue
		}
		more, _ := strconv.Atoi(strings.ReplaceAll(said[1], ",", ""))
		shown, _, _ := strings.Cut(d.flash, "…")
		if len(line)-len(shown) != more || !strings.HasPrefix(line, shown) {
			t.Errorf("%v: %d characters are shown of %d, and %d are said to be more", screen, len(shown), len(line), more)
		}
		if texts := d.keys("@").clipboards(); !slices.Equal(texts, []string{line}) {
			t.Errorf("%v: copied %q", screen, texts)
		}
	}
}

// cutSays is the end of a line that was cut.
var cutSays = regexp.MustCompile(`… ?\(\+?([\d,]+)(?: more characters; @ again copies the whole line|; @ copies it)\)`)

// The line of one type has the parameters that its screen reckons with: which the
// command itself would not take, are flags.
func TestTheCommandLineOfATypeHasItsParameters(t *testing.T) {
	hour := retry.Seconds(3600)
	for name, tt := range map[string]struct {
		declared retry.Params
		facts    observed.Facts
		keys     string
		want     string
	}{
		"as declared":    {declares(nil), observed.Facts{}, "", "ttl-calc --type=mail:send --queue=default"},
		"observed":       {declares(nil), observed.Facts{Options: map[observed.Options]int{{MaxRetry: 3, Timeout: 60e9}: 1}}, "", "ttl-calc --type=mail:send --queue=default --max-retry=3 --timeout=1m"},
		"turned by keys": {declares(nil), observed.Facts{}, "-", "ttl-calc --type=mail:send --queue=default --max-retry=24"},
		"scheduled":      {declares(nil), observed.Facts{ByState: map[inspect.State]int{inspect.StateScheduled: 1}}, "", "ttl-calc --type=mail:send --queue=default --process-in=1s"},
		"paused":         {declares(nil), observed.Facts{Paused: true}, "", "ttl-calc --type=mail:send --queue=default --observed --max-retry=25 --timeout=30m"},
		"uncounted":      {declares(nil), observed.Facts{Uncounted: 1}, "", "ttl-calc --type=mail:send --queue=default --uncounted"},
		"contradicted":   {declares(nil), observed.Facts{Delays: []observed.Delay{{N: 0, Count: 2, Min: 5e9, Max: 5e9}}}, "", "ttl-calc --all --type=mail:send --queue=default"},
		"its lock alone": {declares(&hour), observed.Facts{}, "Gh", "ttl-calc --type=mail:send --queue=default --unique=30m"},
		"a list in its name": {
			declares(nil),
			observed.Facts{Kind: observed.Kind{Type: "a,b", Queue: `"q"`}},
			"",
			`ttl-calc '--type="a,b"' '--queue="""q"""'`,
		},
		"a pattern for a name": {
			declares(&hour),
			observed.Facts{Kind: observed.Kind{Type: "a*", Queue: "q"}},
			"-",
			"ttl-calc --max-retry=24 --unique=1h",
		},
		"a pattern, paused": {
			declares(nil),
			observed.Facts{Kind: observed.Kind{Type: "a*", Queue: "q"}, Paused: true},
			"",
			`ttl-calc --all '--type=a\*' --queue=q`,
		},
		"a pattern, paused and turned": {declares(nil), observed.Facts{Kind: observed.Kind{Type: "a*", Queue: "q"}, Paused: true}, "-", ""},
		"a NUL":                        {declares(nil), observed.Facts{Kind: observed.Kind{Type: "a\x00", Queue: "q"}}, "", ""},
	} {
		d := drive(t, newFake())
		d.backend = declaring{Backend: d.backend, p: tt.declared}
		f := tt.facts
		f.Tasks, f.Servers = 1, 1
		if f.Kind == (observed.Kind{}) {
			f.Kind = observed.Kind{Type: "mail:send", Queue: "default"}
		}
		list := &ttl{hub: d.hub}
		d.run(d.open(newTTLKind(d.hub, list.kindOf(&f))))
		d.keys(tt.keys)
		line := d.top().command()
		if tt.want == "" || line == "" {
			if line != tt.want {
				t.Errorf("%s: %q, want %q", name, line, tt.want)
			}
			continue
		}
		if got, want := words(t, line), words(t, "idemctl "+tt.want); !slices.Equal(got, want) {
			t.Errorf("%s: %s\nwant %s", name, line, tt.want)
		}
	}
}

// declares are asynq's parameters with a lock.
func declares(unique *retry.Seconds) retry.Params {
	p := retry.DefaultParams()
	p.UniqueTTL = unique
	return p
}
