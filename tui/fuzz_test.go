package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// usual are keys that lead somewhere, beside any others.
var usual = strings.Fields(`<enter> <enter> <esc> q j k g G <down> <up> <ctrl+d> <ctrl+u> h l [ ] * \ s r w R X z A c f e y @ ? a S <ctrl+r> <tab> <backspace> 0 + -
	:archived<enter> :payments<enter> :findings<enter> :locks<enter> :ttl<enter> :journal<enter> :ctx` + "\u00a0" + `prod<enter>
	/charge<enter> /status=="applied"<enter> /(<enter> requeue`)

// TestAnythingInAnyOrder presses keys, changes the size, lets time go by, makes
// sources fail, and hands replies over in any order, or twice. Whatever comes:
// nothing panics, every view fits its window and leaves the terminal alone, a reply
// that nobody waits for changes nothing, and no plan is applied that was not
// confirmed by its word.
func TestAnythingInAnyOrder(t *testing.T) {
	if len(usual) < 40 {
		t.Fatal("the keys are not read")
	}
	seen := map[string]bool{}
	applied := 0
	rapid.Check(t, func(r *rapid.T) {
		f := newFake()
		f.place.Protected = rapid.Bool().Draw(r, "protected")
		f.place.Writable = rapid.Bool().Draw(r, "writable")
		f.place.Because = "not here"
		prod := newFake()
		prod.place.Context = "prod"
		f.others, prod.others = map[string]*fake{"prod": prod}, map[string]*fake{"test": f}
		w := &wild{T: r, driver: drive(t, f), fakes: []*fake{f, prod}, seen: seen}
		w.hold = true
		r.Repeat(map[string]func(*rapid.T){
			"key":   w.key,
			"plan":  w.plan,
			"visit": w.visit,
			"size":  w.size,
			"time":  w.time,
			"reply": w.reply,
			"fail":  w.fail,
			"world": w.world,
			"":      w.check,
		})
		applied += len(f.changer.applied) + len(prod.changer.applied)
	})
	if len(seen) < 9 || applied == 0 {
		t.Errorf("only %d kinds of screens were seen, and %d plans applied: the test proves little", len(seen), applied)
	}
}

// wild is a browser to which anything may happen.
type wild struct {
	*rapid.T
	*driver
	fakes []*fake
	// msgs are replies that have not been handed over, or may be once more.
	msgs      []tea.Msg
	confirmed int // plans whose word was typed
	seen      map[string]bool
}

func (w *wild) key(r *rapid.T) {
	keys := rapid.SampledFrom(usual).Draw(r, "keys")
	if rapid.IntRange(0, 9).Draw(r, "any") == 0 {
		keys = string(rapid.Rune().Draw(r, "rune"))
	}
	w.press(strings.ReplaceAll(keys, "\u00a0", " "))
	if w.quitting { // begin anew
		fresh := drive(w.driver.t, w.fakes[0])
		fresh.hold = true
		w.driver = fresh
		w.msgs = nil
	}
	if p, ok := w.top().(*planScreen); ok && p.input != nil && rapid.Bool().Draw(r, "confirm") {
		p.input.SetValue(p.password())
	}
}

// press presses keys, and notes when one of them confirms a plan.
func (w *wild) press(keys string) {
	for keys != "" && !w.quitting {
		var k tea.KeyMsg
		if end := strings.IndexByte(keys, '>'); keys[0] == '<' && end > 1 {
			k, keys = keyNamed(w.driver.t, keys[1:end]), keys[end+1:]
		} else {
			c := []rune(keys)[0]
			k, keys = runeKey(c), keys[len(string(c)):]
		}
		if p, ok := w.top().(*planScreen); ok && p.input != nil && k.Type == tea.KeyEnter && w.help == nil && w.prompt == nil {
			if strings.TrimSpace(p.input.Value()) == p.password() {
				w.confirmed++
			}
		}
		w.send(k)
		w.View()
	}
}

// plan goes where chance alone seldom leads: to a plan, and on to its confirmation.
func (w *wild) plan(r *rapid.T) {
	for _, keys := range []string{"<esc>", ":archived<enter>", "*R", "A"} {
		w.press(keys)
		if rapid.IntRange(0, 4).Draw(r, "settle") > 0 {
			w.settle()
		}
	}
	if p, ok := w.top().(*planScreen); ok && p.input != nil && rapid.Bool().Draw(r, "confirm") {
		p.input.SetValue(p.password())
		w.press("<enter>")
	}
}

// visit goes to a screen from wherever one is.
func (w *wild) visit(r *rapid.T) {
	w.press("<esc>" + rapid.SampledFrom([]string{":over", ":archived", ":payments", ":findings", ":locks", ":ttl", ":journal"}).Draw(r, "screen") + "<enter>")
	if rapid.Bool().Draw(r, "settle") {
		w.settle()
	}
	if rapid.Bool().Draw(r, "enter") {
		w.press("<enter>")
	}
}

// settle carries out everything that waits.
func (w *wild) settle() {
	for range 200 {
		if len(w.held) == 0 {
			return
		}
		cmd := w.held[0]
		w.held = w.held[1:]
		w.take(cmd())
	}
}

func (w *wild) size(r *rapid.T) {
	w.send(size(rapid.IntRange(0, 200).Draw(r, "width"), rapid.IntRange(0, 60).Draw(r, "height")))
}

func (w *wild) time(r *rapid.T) {
	w.at = w.at.Add(time.Duration(rapid.IntRange(0, 90).Draw(r, "seconds")) * time.Second)
	w.send(second(w.at))
}

// reply carries out a command that waits, and hands over any answer, perhaps one
// that was handed over before.
func (w *wild) reply(r *rapid.T) {
	if len(w.held) > 0 {
		i := rapid.IntRange(0, len(w.held)-1).Draw(r, "command")
		cmd := w.held[i]
		w.held = slices.Delete(w.held, i, i+1)
		switch msg := cmd().(type) {
		case nil:
		case tea.BatchMsg:
			for _, c := range msg {
				if c != nil {
					w.held = append(w.held, c)
				}
			}
		default:
			w.msgs = append(w.msgs, msg)
		}
	}
	if len(w.msgs) == 0 {
		return
	}
	i := rapid.IntRange(0, len(w.msgs)-1).Draw(r, "answer")
	msg := w.msgs[i]
	if rapid.IntRange(0, 3).Draw(r, "once") > 0 {
		w.msgs = slices.Delete(w.msgs, i, i+1)
	}
	if r, ok := msg.(reply); ok && !w.waitedFor(r) {
		before := w.View()
		w.send(msg)
		if after := w.View(); after != before {
			w.Fatalf("a stale reply (%s) changed the view:\n%s\n%s", r.slot, ansi.Strip(before), ansi.Strip(after))
		}
		return
	}
	w.take(msg)
}

// waitedFor says whether a desk waits for the reply.
func (w *wild) waitedFor(r reply) bool {
	desks := []*desk{w.root}
	for _, s := range w.stack {
		desks = append(desks, s.papers())
	}
	for _, d := range desks {
		if q := d.open[r.slot]; d.id == r.desk && q != nil && q.number == r.number {
			return true
		}
	}
	return false
}

func (w *wild) fail(r *rapid.T) {
	f := w.fakes[rapid.IntRange(0, len(w.fakes)-1).Draw(r, "context")]
	name := rapid.SampledFrom([]string{"counts", "ping", "rows", "next", "audit", "explain", "locks", "plan", "apply", "runs", "items", "use", "text"}).Draw(r, "what")
	f.mu.Lock()
	defer f.mu.Unlock()
	switch rapid.IntRange(0, 2).Draw(r, "how") {
	case 0:
		delete(f.fail, name)
	case 1:
		f.fail[name] = &inspect.Error{Kind: inspect.KindUnreachable, Op: "read", Err: errors.New("gone\x1b[2J")}
	default:
		f.fail[name] = &reconcile.LedgerError{Ledger: "ma\u202ein", Err: errors.New("lost")}
	}
}

// world changes what there is.
func (w *wild) world(r *rapid.T) {
	f := w.fakes[0]
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.tasks); n > 0 && rapid.Bool().Draw(r, "less") {
		i := rapid.IntRange(0, n-1).Draw(r, "task")
		f.tasks = slices.Delete(f.tasks, i, i+1)
		return
	}
	f.add(fakeTask(rapid.IntRange(200, 400).Draw(r, "number"), "payments", inspect.StateArchived))
}

// check is what always holds.
func (w *wild) check(r *rapid.T) {
	w.seen[fmt.Sprintf("%T", w.top())] = true
	view := w.View()
	lines := strings.Split(view, "\n")
	if w.height > 0 && len(lines) != w.height {
		r.Fatalf("%d lines in a window of %d:\n%s", len(lines), w.height, view)
	}
	for i, l := range lines {
		if n := ansi.StringWidth(l); n > max(w.width, 0) {
			r.Fatalf("line %d has %d cells in a window of %d: %q", i, n, w.width, l)
		}
		if strings.ContainsAny(l, "\x1b\r\t\x07\u202e") {
			r.Fatalf("line %d speaks to the terminal: %q", i, l)
		}
	}
	applied := 0
	for _, f := range w.fakes {
		f.mu.Lock()
		applied += len(f.changer.applied)
		if !f.place.Writable && len(f.changer.planned) > 0 {
			r.Fatal("something was planned where nothing may be changed")
		}
		f.mu.Unlock()
	}
	if applied > w.confirmed {
		r.Fatalf("%d plans were applied, %d confirmed", applied, w.confirmed)
	}
	if n := w.list1(); n != "" {
		r.Fatal(n)
	}
}

// list1 says what is wrong with where the cursor is.
func (w *wild) list1() string {
	s, ok := w.top().(*tasks)
	if !ok || w.height < leastHeight || w.width < leastWidth {
		return ""
	}
	if n := s.now.spine.len(); s.list.cursor < 0 || n > 0 && s.list.cursor >= n {
		return fmt.Sprintf("the cursor is on %d of %d", s.list.cursor, n)
	}
	for ref := range s.marks {
		if ref.ID == "" {
			return "no task is marked"
		}
	}
	return ""
}
