package tui

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"
	"pgregory.net/rapid"
)

// However the bytes come: what was typed arrives whole and in order, and the answer
// is heard and not typed.
func TestAnswerOfTheTerminalIsNotTyped(t *testing.T) {
	answers := map[string]bool{
		"\x1b]11;rgb:0000/0000/0000\x07": true, "\x1b]11;rgb:ffff/ffff/dddd\x1b\\": false,
		"\x1b]11;rgba:1c/1c/1c/ff\x07": true, "\x1b]11;rgb:f/f/f\x1b\\": false, "": false,
	}
	typing := rapid.SliceOfN(rapid.SampledFrom([]string{"j", "é", ":archived\r", "\x1b[A", "\x1b", "\x1b]", "]11;", "日本"}), 0, 40)
	rapid.Check(t, func(r *rapid.T) {
		before, after := strings.Join(typing.Draw(r, "before"), ""), strings.Join(typing.Draw(r, "after"), "")
		said := rapid.SampledFrom(sortedKeys(answers)).Draw(r, "answer")
		text := []byte(before + said + after)
		if strings.Contains(before+after, answer) {
			r.Skip("typed what begins an answer")
		}
		var heard []background
		e := &ear{hears: func(b background) { heard = append(heard, b) }}
		var typed []byte
		for len(text) > 0 {
			n := rapid.IntRange(1, len(text)).Draw(r, "part")
			for n < len(text) && text[n-1] == '\x1b' {
				n++ // a terminal writes an escape together with what follows
			}
			part := slices.Concat(e.held, text[:n])
			e.held = nil
			typed = append(typed, e.listen(part)...)
			text = text[n:]
		}
		typed = append(typed, e.held...)
		if string(typed) != before+after {
			r.Fatalf("typed %q, arrived %q", before+after, typed)
		}
		if said == "" != (len(heard) == 0) || len(heard) == 1 && heard[0].dark != answers[said] || len(heard) > 1 {
			r.Fatalf("%q was heard as %v", said, heard)
		}
	})
}

func TestEarReadsWithoutWaitingForAnAnswer(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = in.Close(), out.Close() }()
	heard := 0
	e := &ear{terminal: in, hears: func(background) { heard++ }}
	buf := make([]byte, 256)
	for _, step := range []struct{ written, read string }{
		{"jj\x1b]11;rgb:ff", "jj"}, {"ff/ffff/ffff\x07k", "k"}, {"q", "q"},
	} {
		if _, err := out.WriteString(step.written); err != nil {
			t.Fatal(err)
		}
		n, err := e.Read(buf)
		if err != nil || string(buf[:n]) != step.read {
			t.Errorf("of %q was read %q (%v)", step.written, buf[:n], err)
		}
	}
	if heard != 1 {
		t.Errorf("heard %d answers", heard)
	}
}

func TestColoursFollowTheTerminalsAnswer(t *testing.T) {
	f := newFake()
	d := drive(t, f, func(o *Options) { o.renderer = rendererFor(termenv.TrueColor, true) })
	dark := d.View()
	d.send(background{dark: false})
	light := d.View()
	d.send(background{dark: true})
	if light == dark || d.View() != dark {
		t.Error("the colours do not follow the background")
	}
}

func TestBackgroundIsGuessedFromTheEnvironment(t *testing.T) {
	for value, light := range map[string]bool{"0;15": true, "15;0": false, "0;default;15": true, "0;7": true, "7;8": false, "": false, "x": false, "15;default": false} {
		if got := lightByEnvironment(value); got != light {
			t.Errorf("COLORFGBG=%s is light: %v", value, got)
		}
		r := rendererOf(&Options{Out: io.Discard, LookupEnv: func(name string) (string, bool) { return value, name == "COLORFGBG" }})
		if r.HasDarkBackground() == light {
			t.Errorf("COLORFGBG=%s is not gone by", value)
		}
	}
}

func TestBrowserAsksForTheBackgroundAndShowsAtOnce(t *testing.T) {
	var out bytes.Buffer
	m := New(t.Context(), newFake(), Options{Out: &out, ask: true})
	defer m.Close()
	batch, _ := m.Init()().(tea.BatchMsg)
	if !strings.Contains(m.View(), "Overview") {
		t.Error("nothing is shown before the terminal has answered")
	}
	if len(batch) == 0 {
		t.Fatal("nothing is asked")
	}
	batch[len(batch)-1]()
	if out.String() != "\x1b]11;?\x1b\\" {
		t.Errorf("the terminal was asked %q", out.String())
	}
}
