package tui

import (
	"testing"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// Whatever a screen calls a state, ":" goes there by that word.
func TestEveryWordThatScreensHaveForAStateIsAPlace(t *testing.T) {
	for _, st := range append([]inspect.State{inspect.StateUnknown}, inspect.States()...) {
		words := []string{wordAll}
		if st != inspect.StateUnknown {
			words = []string{st.String(), stateTitle(st)}
		}
		for _, w := range words {
			for _, queue := range []string{"", "payments "} {
				d := drive(t, newFake())
				d.keys(":" + queue + w + "<enter>")
				s, ok := d.top().(*tasks)
				if !ok || s.state != st || s.queue != "" != (queue != "") {
					t.Errorf(":%s%s leads to %s:\n%s", queue, w, d.top().name(), d.screen())
				}
			}
		}
	}
}

func TestQueueThatIsNamedAsAShortWordIsAQueue(t *testing.T) {
	for _, name := range []string{"done", "all"} {
		f := newFake()
		f.queues = append(f.queues, name)
		d := drive(t, f)
		d.keys(":" + name + "<enter>").sees("Tasks of " + name)
		d.keys(":" + name + " completed<enter>").sees(name + " completed")
	}
}

func TestPhraseInQuotesMatchesText(t *testing.T) {
	j := fakeTask(1, "payments", inspect.StateArchived) // "bank: gateway answered 501"
	for text, want := range map[string]bool{
		`"gateway answered"`:                true,
		`"Gateway Answered 501"`:            true,
		`"answered gateway"`:                false,
		`"gateway answered" refund`:         true,
		`refund "gateway answered" "bank:"`: true,
		`"gateway answered" charge`:         false,
		`"bank: gateway"`:                   true,
	} {
		f, err := parseFilter(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		passes, _ := f.judged()
		if got := passes(&j); got != want {
			t.Errorf("%s passes %v", text, got)
		}
		where, err := reconcile.CompileFilter(f.expression())
		if err != nil {
			t.Fatal(err)
		}
		if got := where.Passes(reconcile.Subject{Judged: &j}); got != want {
			t.Errorf("%s, given to --where as %s, passes %v", text, f.expression(), got)
		}
	}
	for _, text := range []string{`"open`, `""`, `"a" && retried`, `type startsWith "pay`, `not "x"`, `type = "x"`} {
		if f, err := parseFilter(text); err == nil {
			t.Errorf("%s is taken for %+v", text, f)
		}
	}
	drive(t, newFake()).keys(`:archived<enter>/"gateway answered 501"<enter>`).sees("1 of 1", "task-0001")
}
