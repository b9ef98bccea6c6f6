package tui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/exp/teatest"

	"github.com/idemctl/idemctl/inspect"
)

// program is a browser in bubbletea's own loop.
func program(t *testing.T, f *fake) *teatest.TestModel {
	t.Helper()
	m := New(t.Context(), f, Options{Out: io.Discard, Plain: true, UTC: true, Now: func() time.Time { return noon }})
	return teatest.NewTestModel(t, m, teatest.WithInitialTermSize(80, 24))
}

// until waits for a text on the terminal.
func until(t *testing.T, tm *teatest.TestModel, text string) {
	t.Helper()
	teatest.WaitFor(t, tm.Output(), func(b []byte) bool { return bytes.Contains(b, []byte(text)) },
		teatest.WithDuration(time.Minute), teatest.WithCheckInterval(5*time.Millisecond))
}

func TestProgramBrowsesFiltersPlansAndUndoes(t *testing.T) {
	f := newFake()
	tm := program(t, f)
	until(t, tm, "effect/lost")
	tm.Type(":archived")
	tm.Send(tea.KeyMsg{Type: tea.KeyEnter})
	until(t, tm, "task-0011")
	tm.Type("/refund")
	tm.Send(tea.KeyMsg{Type: tea.KeyEnter})
	until(t, tm, "1 of 4")
	tm.Send(tea.KeyMsg{Type: tea.KeyEnter})
	until(t, tm, "to scale")
	tm.Send(tea.KeyMsg{Type: tea.KeyEsc})
	tm.Type("*X")
	until(t, tm, "Resolve 2, hold 2")
	tm.Type("Aresolve 2")
	tm.Send(tea.KeyMsg{Type: tea.KeyEnter})
	until(t, tm, "Applied 2 of 2")
	tm.Send(tea.KeyMsg{Type: tea.KeyEsc})
	tm.Type("z")
	until(t, tm, "Plan restore")
	tm.Send(tea.KeyMsg{Type: tea.KeyCtrlC})
	tm.WaitFinished(t, teatest.WithFinalTimeout(time.Minute))
	if n := len(f.changer.applied); n != 1 {
		t.Errorf("%d plans were applied", n)
	}
}

// slowFake never answers.
type slowFake struct{ *fake }

func (slowFake) Counts(ctx context.Context) (Counts, error) {
	<-ctx.Done()
	return Counts{}, ctx.Err()
}

func (slowFake) Rows(ctx context.Context, _ []inspect.Ref) ([]Row, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestProgramAnswersKeysWithinAFrameWhileNothingAnswersIt(t *testing.T) {
	m := New(t.Context(), slowFake{newFake()}, Options{Out: io.Discard, Plain: true, Now: time.Now})
	tm := teatest.NewTestModel(t, m, teatest.WithInitialTermSize(80, 24))
	tm.Type(":archived")
	tm.Send(tea.KeyMsg{Type: tea.KeyEnter})
	until(t, tm, "task-0000")
	took := time.Hour
	for tries := 0; took > time.Second && tries < 10; tries++ { // a frame is 16 ms; test machines have other work
		begun := time.Now()
		tm.Type("jjj?")
		until(t, tm, "MOVING")
		took = time.Since(begun)
		tm.Send(tea.KeyMsg{Type: tea.KeyEsc})
		until(t, tm, "task-0000")
	}
	if took > time.Second {
		t.Errorf("keys were answered after %v, and not sooner before", took)
	}
	tm.Send(tea.KeyMsg{Type: tea.KeyCtrlC})
	tm.WaitFinished(t, teatest.WithFinalTimeout(time.Minute))
}

// rude panics where it is asked to.
type rude struct {
	*fake
	place bool
}

func (r *rude) Place() Place {
	if r.place {
		panic("in the middle of a drawing")
	}
	return r.fake.Place()
}

func (r *rude) Counts(context.Context) (Counts, error) { panic("in a command") }

func TestShowRestoresTheTerminalAfterAPanic(t *testing.T) {
	for _, b := range []*rude{{fake: newFake()}, {fake: newFake(), place: true}} {
		var out bytes.Buffer
		err := showOn(t.Context(), t, b, &out)
		if err == nil {
			t.Errorf("a panic is no error")
		}
		restored(t, out.String())
	}
}

func TestShowRestoresTheTerminalWhenASignalEndsIt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer time.AfterFunc(time.Minute, cancel).Stop()
	out := &watched{text: "effect/lost", seen: cancel}
	f := newFake()
	if err := showOn(ctx, t, f, out); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	restored(t, out.String())
	if f.closed != 1 {
		t.Errorf("the backend was closed %d times", f.closed)
	}
}

// watched is a terminal that tells when a text is on it.
type watched struct {
	text string
	seen func()

	mu  sync.Mutex
	all bytes.Buffer
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.all.Write(p)
	if bytes.Contains(w.all.Bytes(), []byte(w.text)) {
		w.seen()
	}
	return n, err
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all.String()
}

// showOn runs Show on pipes. A panic's own words go to standard error, as they
// should.
func showOn(ctx context.Context, t *testing.T, b Backend, out io.Writer) (err error) {
	t.Helper()
	in, hold := io.Pipe()
	defer func() { _ = hold.Close() }()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("the panic came through: %v", r)
		}
	}()
	return Show(ctx, b, Options{In: in, Out: out, Plain: true})
}

// restored fails unless the alternate screen was left and the cursor is there.
func restored(t *testing.T, out string) {
	t.Helper()
	for on, off := range map[string]string{"\x1b[?1049h": "\x1b[?1049l", "\x1b[?25l": "\x1b[?25h", "\x1b[?2004h": "\x1b[?2004l"} {
		if strings.LastIndex(out, off) < strings.LastIndex(out, on) || !strings.Contains(out, on) {
			t.Errorf("%q is not taken back by %q in %q", on, off, out)
		}
	}
}
