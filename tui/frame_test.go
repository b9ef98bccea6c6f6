package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// Every key that a screen answers is in its help, and a case of TestKeys presses it
// there.
func TestHelpKnowsEveryKeyOfEveryScreen(t *testing.T) {
	pressed := map[string]bool{}
	for _, c := range keyCases {
		f := newFake()
		if c.given != nil {
			c.given(f)
		}
		d := drive(t, f)
		d.pressed = pressed
		d.keys(c.keys)
		c.then(d)
	}
	for _, keys := range []string{
		"", ":archived<enter>", ":archived<enter><enter>", ":findings<enter>",
		":locks<enter>", ":ttl<enter>", ":ttl<enter><enter>", ":journal<enter>", ":journal<enter><enter>", ":archived<enter>R",
	} {
		d := drive(t, newFake())
		d.keys(keys)
		where := fmt.Sprintf("%T", d.top())
		var shown []string
		for _, s := range newHelp(d.Model).sections {
			for _, k := range s.keys {
				shown = append(shown, k.Key)
			}
		}
		for _, a := range append(d.top().actions(), d.common()...) {
			if a.Help().Desc == "" || !slices.Contains(shown, a.Help().Key) {
				t.Errorf("%s: the help lacks %v", where, a.Keys())
			}
		}
		for _, a := range d.top().actions() {
			if !slices.ContainsFunc(a.Keys(), func(k string) bool { return pressed[where+" "+k] }) {
				t.Errorf("%s: no case presses %v (%s)", where, a.Keys(), a.Help().Desc)
			}
		}
	}
}

func TestRefreshKeepsCursorMarksAndScrollByTask(t *testing.T) {
	f := newFake()
	for i := range 40 {
		f.add(fakeTask(100+i, "payments", inspect.StateArchived))
	}
	d := drive(t, f)
	d.keys(":payments archived<enter>G")
	d.keys("kkk  ")
	d.on("task-0138")
	line := d.list().cursor - d.list().top
	f.mu.Lock()
	f.tasks = slices.Concat([]reconcile.Judged{fakeTask(900, "payments", inspect.StateArchived), fakeTask(901, "payments", inspect.StateArchived)}, f.tasks)
	f.mu.Unlock()
	d.wait(6 * time.Second)
	d.on("task-0138").sees("● 2 marked", "of 54")
	if now := d.list().cursor - d.list().top; now != line {
		t.Errorf("the cursor moved from line %d to %d of the screen", line, now)
	}
	d.keys("kk").on("●▲ task-0136")
}

func (d *driver) list() *list { return &d.top().(*tasks).list }

func TestTaskThatIsGoneIsSaidToBeGone(t *testing.T) {
	f := newFake()
	d := drive(t, f)
	d.keys(":archived<enter> ").sees("● 1 marked")
	f.mu.Lock()
	f.tasks = f.tasks[1:]
	f.mu.Unlock()
	d.hold = true
	d.wait(6 * time.Second)
	for _, msg := range d.answers() { // the rows are answered before the list
		if r, ok := msg.(reply); ok && r.slot == slotRows {
			d.take(msg)
		}
	}
	d.sees("- gone").lacks("marked")
}

func TestStaleReplyIsDropped(t *testing.T) {
	f := newFake()
	d := drive(t, f)
	d.keys(":archived<enter>")
	d.hold = true
	d.keys("/501<enter>") // asks for a list
	first := d.answers()
	d.hold = true
	d.keys("/<ctrl+u>502<enter>") // and for another
	d.release()
	d.on("task-0002")
	before := d.screen()
	for _, msg := range first {
		d.take(msg)
	}
	if d.screen() != before {
		t.Errorf("a stale reply changed the screen:\n%s", d.screen())
	}
}

func TestReplyToAScreenThatWasLeftIsDropped(t *testing.T) {
	d := drive(t, newFake())
	d.keys(":archived<enter>")
	d.hold = true
	d.keys("<enter>")
	late := d.answers()
	d.keys("<esc>")
	before := d.screen()
	for _, msg := range late {
		d.take(msg)
	}
	if d.screen() != before {
		t.Errorf("a reply to a screen that was left changed the screen:\n%s", d.screen())
	}
}

func TestLeavingAScreenEndsItsRequests(t *testing.T) {
	d := drive(t, newFake())
	d.keys(":archived<enter>")
	ctx := d.top().papers().ctx
	d.keys("<esc>")
	if ctx.Err() == nil {
		t.Error("the requests of a screen that was left go on")
	}
}

func TestKeysAreAnsweredWhileNothingElseIs(t *testing.T) {
	d := drive(t, newFake())
	d.hold = true // no command is carried out: Redis and the ledger are silent
	d.keys(":archived<enter>")
	d.sees("Tasks archived", "reading")
	d.keys("jjG:locks<enter>").sees("sweeping the keys")
	d.keys(":findings<enter>]?").sees("EVERYWHERE")
	d.keys("xqqq")
	if !d.quit && d.held == nil {
		t.Error("q does not leave")
	}
}

func TestLostRedisLeavesOldNumbersWithTheirAge(t *testing.T) {
	f := newFake()
	d := drive(t, f)
	f.fail["counts"] = &inspect.Error{Kind: inspect.KindUnreachable, Op: "connect", Addr: "redis.test:6379", Err: errors.New("connection refused")}
	d.wait(12 * time.Second)
	d.sees("! Redis has not answered since 12:00:00, 12s: connection refused", "payments", "! 12s ago")
	delete(f.fail, "counts")
	d.wait(5 * time.Second).lacks("connection refused")
}

func TestLostLedgerIsNamedAndStatusesStay(t *testing.T) {
	f := newFake()
	d := drive(t, f)
	d.keys(":archived<enter>").sees("✓ applied")
	f.fail["rows"] = &reconcile.LedgerError{Kind: reconcile.LedgerUnreachable, Ledger: "main", Err: errors.New("connection reset")}
	d.wait(6 * time.Second)
	d.sees("! ledger main has not answered since 12:00:05, 1s: connection reset", "✓ applied", "○ not-applied")
	delete(f.fail, "rows")
	d.wait(6 * time.Second).lacks("ledger main has not")
}

func TestLostSourceIsNotAskedAgainAndAgain(t *testing.T) {
	f := newFake()
	f.fail["rows"] = &inspect.Error{Kind: inspect.KindUnreachable, Op: "read", Err: errors.New("gone")}
	d := drive(t, f)
	d.keys(":archived<enter>")
	before := f.calls["rows"]
	d.keys("jjjkkk")
	if n := f.calls["rows"] - before; n > 1 {
		t.Errorf("%d reads were tried between two refreshes", n)
	}
	d.wait(6 * time.Second)
	if f.calls["rows"] == before {
		t.Error("a refresh does not try again")
	}
}

func TestListThatFailsIsReadAnew(t *testing.T) {
	f := newFake()
	f.fail["next"] = &inspect.Error{Kind: inspect.KindTimeout, Op: "list", Err: errors.New("i/o timeout")}
	d := drive(t, f)
	d.keys(":archived<enter>").sees("the list cannot be read", "i/o timeout")
	delete(f.fail, "next")
	d.wait(6*time.Second).sees("task-0000", "of 12")
}

func TestSlowAnswerIsSaid(t *testing.T) {
	d := drive(t, newFake())
	d.hold = true
	d.wait(8 * time.Second)
	d.sees("! slow: no answer for 3s from Redis (the counts)", "payments")
}

func TestAuditFailureIsSaid(t *testing.T) {
	f := newFake()
	f.fail["audit"] = errors.New("no ledger is configured")
	drive(t, f).sees("! the audit failed just now: no ledger is configured")
}

func TestLargeRedisIsAuditedOnlyWhenAsked(t *testing.T) {
	f := newFake()
	for i := range autoAudit {
		f.tasks = append(f.tasks, reconcile.Judged{Task: inspect.Task{Ref: inspect.Ref{Queue: "default", ID: fmt.Sprint(i)}, State: inspect.StatePending}})
	}
	d := drive(t, f)
	d.sees("100,019 tasks: a audits them")
	if f.calls["audit"] != 0 {
		t.Error("it was audited")
	}
	d.keys("a").sees("effect/lost")
}

func TestAuditIsRepeatedNowAndThen(t *testing.T) {
	f := newFake()
	d := drive(t, f)
	d.wait(59 * time.Second)
	if n := f.calls["audit"]; n != 1 {
		t.Fatalf("%d audits in a minute", n)
	}
	f.mu.Lock()
	f.add(fakeTask(60, "payments", inspect.StateArchived))
	f.mu.Unlock()
	d.wait(10 * time.Second)
	if n := f.calls["audit"]; n != 2 {
		t.Errorf("%d audits after a minute", n)
	}
	d.sees("3+")
}

func TestChangesSinceTheLastRefreshAreShown(t *testing.T) {
	f := newFake()
	d := drive(t, f)
	f.mu.Lock()
	f.add(fakeTask(61, "payments", inspect.StateArchived))
	f.tasks = slices.DeleteFunc(f.tasks, func(j reconcile.Judged) bool { return j.Task.ID == "task-0040" })
	f.mu.Unlock()
	d.wait(5*time.Second).sees("since the last refresh: -1 pending, +1 archived", "+1 13")
	d.wait(5 * time.Second).lacks("since the last refresh")
}

func TestRefreshIsNeverFasterThanItsFloor(t *testing.T) {
	f := newFake()
	d := drive(t, f, func(o *Options) { o.Refresh = time.Millisecond })
	d.wait(10 * time.Second)
	if n := f.calls["counts"]; n > 1+10/int(LeastRefresh/time.Second) {
		t.Errorf("the counts were read %d times in 10 s", n)
	}
}

func TestHeaderSaysWhereAndWhatIsAllowed(t *testing.T) {
	for _, c := range []struct {
		place Place
		want  []string
	}{
		{Place{Context: "prod", Protected: true, Writable: true}, []string{"▲P prod", "WRITE"}},
		{Place{Context: "view", ReadOnly: true, Because: "read-only"}, []string{"○R view", "READ ONLY"}},
		{Place{Context: "dev", Because: "without --write"}, []string{"◆O dev", "READ ONLY"}},
		{Place{Writable: true}, []string{"◆O no context", "WRITE"}},
	} {
		f := newFake()
		f.place = c.place
		drive(t, f).sees(c.want...)
	}
}

func TestNothingIsPlannedWhereNothingMayBeChanged(t *testing.T) {
	f := newFake()
	f.place.Writable, f.place.Because = false, "nothing is changed without --write"
	d := drive(t, f)
	for _, keys := range []string{"z", ":archived<enter>R", "X", "<enter>R", "X", ":findings<enter>R", "X", ":journal<enter>z", "<enter>z"} {
		d.keys(keys)
		d.sees("» nothing is changed without --write")
	}
	wantPlanned(d)
}

func TestPlanBeingAppliedIsNotLeftByAccident(t *testing.T) {
	f := newFake()
	f.changer.gate = make(chan struct{})
	d := drive(t, f)
	d.keys(":archived<enter>*RA")
	d.hold = true
	d.keys("requeue 6<enter>").sees("Applying 0 of 6")
	for _, keys := range []string{"<esc>", "q", "<ctrl+c>", "<enter>", ":q<enter>", ":quit<enter>"} {
		d.keys(keys).sees("it is being applied")
		if d.quit {
			t.Fatalf("%s left it", keys)
		}
	}
	d.keys(":archived<enter>").sees("Plan requeue")
	d.keys("S")
	d.release()
	d.sees("Applied 0 of 6", "It ended early: context canceled")
	d.keys("<esc>").sees("Tasks archived")
}

func TestPlanThatIsTooOldIsNotApplied(t *testing.T) {
	f := newFake()
	d := drive(t, f)
	d.keys(":archived<enter>R")
	d.top().(*planScreen).plan.Until = noon.Add(time.Hour)
	d.at = noon.Add(2 * time.Hour)
	d.keys("Arequeue 1<enter>")
	wantApplied(d, 0)
	d.sees("too old", "Nothing was changed: the plan was good until").lacks("Applying", "ended early")
}

func TestEachItemShowsWhatCameOfIt(t *testing.T) {
	f := newFake()
	d := drive(t, f)
	d.keys(":archived<enter>  R")
	p := d.top().(*planScreen)
	p.phase = phaseApplying
	for outcome, want := range map[Outcome]string{OutcomeDone: "✓ done", OutcomeRefused: "- refused", OutcomeFailed: "✗ failed", OutcomeUnknown: "? unknown"} {
		p.event(Event{Ref: refs("task-0000")[0], Outcome: outcome, Words: "because"})
		d.sees(want, "because", "1 of 1")
	}
}

func TestEverythingFromOutsideIsMadeVisible(t *testing.T) {
	evil := "\x1b[2J\x1b]0;pwned\x07\u202eevil\r\n\tワイド日本語"
	f := newFake()
	f.place.Context, f.place.Redis = "ctx"+evil, "addr"+evil
	f.queues = append(f.queues, "queue"+evil)
	j := fakeTask(0, "queue"+evil, inspect.StateArchived)
	j.Task.ID, j.Task.Type, j.Task.LastErr, j.Key = "id"+evil, "type"+evil, "err"+evil, "key"+evil
	f.tasks, f.findings = nil, nil
	f.add(j)
	f.payload, f.canonical = `{"a":"`+evil+`"}`, `{"b":"`+evil+`"}`
	f.locks[0].Type = "lock" + evil
	f.servers[0].Host = "host" + evil
	f.fail["use"] = errors.New(evil)
	d := drive(t, f)
	check := func(where string) {
		for _, width := range []int{40, 80, 160} {
			d.send(size(width, 24))
			for i, l := range strings.Split(d.View(), "\n") {
				if strings.ContainsAny(l, "\x1b\r\t\x07\u202e") {
					t.Fatalf("%s at %d: line %d speaks to the terminal: %q", where, width, i, l)
				}
			}
		}
	}
	for _, keys := range []string{
		"", ":archived<enter>", "w", "<enter>", "G", "e", "<esc><esc>R", "<esc>y", "@", ":findings<enter>l", ":locks<enter>", ":ttl<enter>", "<enter>", ":journal<enter>",
		":ctx prod<enter>", ":" + "\u202e", "<esc>/",
	} {
		d.keys(keys)
		check(keys)
	}
}

func TestPastedTextIsNoKey(t *testing.T) {
	d := drive(t, newFake())
	paste := runeKey('q')
	paste.Runes, paste.Paste = []rune("qqRX"), true
	d.send(paste)
	if d.quit {
		t.Error("pasted text quit")
	}
	d.sees("pasted text is no key")
	d.keys("/")
	d.keys("<esc>:")
	d.send(paste)
	d.sees(":qqRX")
}

func TestKeysThatComeTogetherAreAnsweredOneByOne(t *testing.T) {
	d := drive(t, newFake())
	k := runeKey('j')
	k.Runes = []rune(":archived")
	d.send(k)
	d.sees(":archived")
	d.keys("<enter>").sees("Tasks archived")
	k.Runes = []rune("jjj")
	d.send(k)
	d.on("task-0003")
}

func TestMouseIsListenedToOnlyWhereAsked(t *testing.T) {
	for _, on := range []bool{false, true} {
		d := drive(t, newFake(), func(o *Options) { o.Mouse = on })
		d.keys(":archived<enter>")
		d.click(10)
		if moved := !strings.Contains(d.cursor(), "task-0000"); moved != on {
			t.Errorf("mouse %v: a click moves %v", on, moved)
		}
		d.scroll()
		if moved := d.list().cursor > 7; moved != on {
			t.Errorf("mouse %v: the wheel moves %v", on, moved)
		}
	}
}

func TestPagerHasTheTerminal(t *testing.T) {
	d := drive(t, newFake(), func(o *Options) { o.Pager = []string{"less"} })
	d.keys(":archived<enter>e")
	if d.execs != 1 {
		t.Errorf("%d pagers were started", d.execs)
	}
	d.send(paged{errors.New("exit status 2")})
	d.sees("the pager failed: exit status 2")
}

func TestTooManyScreensForgetTheOldest(t *testing.T) {
	d := drive(t, newFake())
	for range 3 * maxDepth {
		d.open(newFindings(d.hub))
	}
	if len(d.stack) > maxDepth {
		t.Errorf("%d screens lie on each other", len(d.stack))
	}
	if _, ok := d.stack[0].(*overview); !ok {
		t.Error("the overview is not at the bottom")
	}
}

func TestPanicInAFollowedCommandIsAnError(t *testing.T) {
	d := drive(t, newFake())
	cmd := d.root.follow(slotAudit, func(context.Context, func(any), func(any)) (any, error) { panic("boom") })
	r, ok := cmd().(reply)
	if !ok || r.err == nil || !strings.Contains(r.err.Error(), "boom") {
		t.Errorf("got %+v", r)
	}
}
