package tui

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/idemctl/idemctl/inspect"
)

// Each case is a state, keys, and the state that is expected then.
func TestKeys(t *testing.T) {
	for _, c := range keyCases {
		t.Run(c.name, func(t *testing.T) {
			f := newFake()
			if c.given != nil {
				c.given(f)
			}
			d := drive(t, f)
			d.keys(c.keys)
			c.then(d)
		})
	}
}

type keyCase struct {
	name  string
	given func(*fake)
	keys  string
	then  func(*driver)
}

var keyCases = slices.Concat(planCases, []keyCase{
	// The overview.
	{"overview shows what is wrong and what there is", nil, "", func(d *driver) {
		d.sees("Overview", "▲ 12 high", "effect/lost", "QUEUES", "payments", "‖ paused", "! unserved", "worker-1:7", "archived an hour")
		d.on("invoice:send")
	}},
	{"overview j goes down", nil, "j", func(d *driver) { d.on("payment:charge") }},
	{"overview down and k come back", nil, "<down>k", func(d *driver) { d.on("invoice:send") }},
	{"overview G goes to the last queue", nil, "G", func(d *driver) { d.on("payments") }},
	{"overview g comes back to the first", nil, "Gg", func(d *driver) { d.on("invoice:send") }},
	{"overview ctrl-d and ctrl-u", nil, "<ctrl+d><ctrl+d>G<ctrl+u><ctrl+u><ctrl+u>", func(d *driver) { d.on("invoice:send") }},
	{"overview pgdown", nil, "<pgdown><pgdown>", func(d *driver) { d.on("payments") }},
	{"overview pgup", nil, "G<pgup><pgup>", func(d *driver) { d.on("invoice:send") }},
	{"overview enter on a signature opens its findings", nil, "<enter>", func(d *driver) { d.sees("› Findings", "▿ effect/applied-archived"); d.on("invoice:send") }},
	{"overview enter on a queue lists its tasks", nil, "G<enter>", func(d *driver) { d.sees("› Tasks of payments", "task-0000") }},
	{"overview l lists the archived of a queue", nil, "Gl", func(d *driver) { d.sees("payments archived", "[archived 12]") }},
	{"overview ] goes to the findings", nil, "]", func(d *driver) { d.sees("› Findings") }},
	{"overview w is wide", nil, "w", func(d *driver) { d.sees("QUEUE") }},

	// What every screen has.
	{"? shows the keys", nil, "?", func(d *driver) { d.sees("EVERYWHERE", "jump to a screen", "any other key closes the help") }},
	{"any key closes the help", nil, "?x", func(d *driver) { d.lacks("EVERYWHERE") }},
	{"help scrolls", nil, "?jjG", func(d *driver) { d.sees("any other key") }},
	{": jumps to a state", nil, ":archived<enter>", func(d *driver) { d.sees("Tasks archived", "task-0000") }},
	{": jumps to a queue", nil, ":payments<enter>", func(d *driver) { d.sees("Tasks of payments") }},
	{": jumps to a state of a queue", nil, ":tasks default retry<enter>", func(d *driver) { d.sees("default retry", "task-0020") }},
	{": completes with tab", nil, ":arch<tab><enter>", func(d *driver) { d.sees("Tasks archived") }},
	{": takes a beginning that only one has", nil, ":over<enter>", func(d *driver) { d.sees("Overview"); d.lacks("no screen") }},
	{": says what it does not know", nil, ":nowhere<enter>", func(d *driver) { d.sees("✗ no screen, state, queue or context nowhere") }},
	{": esc leaves the line", nil, ":arch<esc>", func(d *driver) { d.sees("Overview"); d.lacks(":arch") }},
	{": backspace leaves the empty line", nil, ":a<backspace><backspace>", func(d *driver) { d.sees("enter open") }},
	{": empty goes nowhere", nil, ":<enter>", func(d *driver) { d.sees("Overview") }},
	{": q quits", nil, ":q<enter>", func(d *driver) { quits(d) }},
	{": help", nil, ":help<enter>", func(d *driver) { d.sees("EVERYWHERE") }},
	{": ctx without a name lists them", nil, ":ctx<enter>", func(d *driver) { d.sees("contexts: test, prod") }},
	{": ctx opens another context", func(f *fake) {
		other := newFake()
		other.place.Context, other.place.Protected = "prod", true
		f.others = map[string]*fake{"prod": other}
	}, "G<enter>:ctx prod<enter>", func(d *driver) {
		d.sees("▲P prod", "Overview")
		d.lacks("Tasks of payments")
		if d.fake.closed != 1 {
			d.t.Errorf("the old context was closed %d times", d.fake.closed)
		}
	}},
	{": ctx that cannot be opened leaves things as they are", func(f *fake) { f.fail["use"] = errors.New("refused") }, ":ctx prod<enter>", func(d *driver) {
		d.sees("◆O test", "the context cannot be opened: refused")
	}},
	{"@ shows the command, and again copies it", nil, ":archived<enter>@", func(d *driver) {
		d.sees("» idemctl tasks -s archived")
		d.keys("@")
		if !strings.Contains(d.out.String(), "\x1b]52;c;aWRlbWN0bCB0YXNrcyAtcyBhcmNoaXZlZA==") {
			d.t.Errorf("the terminal was sent %q", d.out.String())
		}
	}},
	{"q goes back", nil, ":archived<enter>q", func(d *driver) { d.sees("FINDINGS"); d.lacks("Tasks archived") }},
	{"q on the overview quits", nil, "q", func(d *driver) { quits(d) }},
	{"esc on the overview does not quit", nil, "<esc>", func(d *driver) {
		if d.quit {
			d.t.Error("it quit")
		}
	}},
	{"ctrl-c quits from anywhere", nil, ":archived<enter><ctrl+c>", func(d *driver) { quits(d) }},
	{"ctrl-r reads again", nil, "<ctrl+r>", func(d *driver) {
		if n := d.fake.calls["counts"]; n != 2 {
			d.t.Errorf("the counts were read %d times", n)
		}
	}},
	{"a audits now", nil, "a", func(d *driver) {
		if n := d.fake.calls["audit"]; n != 2 {
			d.t.Errorf("there were %d audits", n)
		}
	}},
	{"keys that mean nothing do nothing", nil, "QZ%", func(d *driver) { d.on("invoice:send") }},

	// Tasks.
	{"tasks shows what is known", nil, ":archived<enter>", func(d *driver) {
		d.sees("TASK", "EFFECT", "task-0000", "○ not-applied", "✓ applied", "0/25", "1h ago", "1 of 12")
		d.send(size(120, 24))
		d.sees("handler-error", "evt_11", "■ 29m")
		d.on("task-0000")
	}},
	{"tasks reads the list on", nil, ":tasks<enter>G", func(d *driver) { d.on("task-0040"); d.sees("19 of 19") }},
	{"tasks j k g G", nil, ":archived<enter>jjk", func(d *driver) {
		d.on("task-0001")
		d.keys("G").on("task-0011")
		d.keys("g").on("task-0000")
		d.keys("<end>").on("task-0011")
		d.keys("<home>").on("task-0000")
		d.keys("<ctrl+d>").on("task-0009")
		d.keys("<ctrl+u>").on("task-0000")
		d.keys("<pgdown>").on("task-0011")
		d.keys("<pgup>").on("task-0000")
	}},
	{"tasks l and h go through the states", nil, ":archived<enter>l", func(d *driver) {
		d.sees("[done]", "no task is completed")
		d.keys("h").sees("[archived 12]")
		d.keys("<left>").sees("[retry 5]", "task-0020", "in 20m")
		d.keys("<right>").sees("[archived 12]")
	}},
	{"tasks ] and [ go through the queues", nil, ":archived<enter>]", func(d *driver) {
		d.sees("default archived", "no task is archived in default")
		d.keys("<tab>").sees("payments archived")
		d.keys("[[").sees("Tasks archived")
	}},
	{"tasks enter opens the task", nil, ":archived<enter>j<enter>", func(d *driver) { d.sees("› task-0001", "TIMES") }},
	{"tasks space marks and goes on", nil, ":archived<enter>  ", func(d *driver) {
		d.sees("● 2 marked", "●▲ task-0000", "●▲ task-0001")
		d.on("task-0002")
	}},
	{"tasks space takes a mark off", nil, ":archived<enter> k ", func(d *driver) { d.lacks("●") }},
	{"tasks * marks all, and again none", nil, ":archived<enter>*", func(d *driver) {
		d.sees("● 12 marked")
		d.keys("*").lacks("●")
	}},
	{"tasks \\ clears marks", nil, ":archived<enter>  \\", func(d *driver) { d.lacks("●") }},
	{"tasks s sorts, r turns round", nil, ":archived<enter>s", func(d *driver) {
		d.sees("by task", "TASK↑")
		d.keys("r").sees("TASK↓").keys("g").on("task-0011")
	}},
	{"tasks s comes back to the order of the list", nil, ":archived<enter>ssssssssss", func(d *driver) { d.lacks(" by ") }},
	{"tasks w shows more", nil, ":archived<enter>", func(d *driver) {
		d.send(size(160, 24))
		d.lacks("LAST ERROR")
		d.keys("w").sees("LAST ERROR", "gateway answered 500")
	}},
	{"tasks / filters by words", nil, ":archived<enter>/refund 501<enter>", func(d *driver) { d.on("task-0001"); d.sees("1 of 1", "/refund 501") }},
	{"tasks / filters by an expression", nil, `:archived<enter>/retried > 2<enter>`, func(d *driver) { d.sees("1 of 3", "task-0003", "task-0007", "task-0011") }},
	{"tasks / says for how many an expression fails", nil, `:archived<enter>/retried > 2 || int(id) > 3<enter>`, func(d *driver) {
		d.sees("1 of 3", "! filter fails for 9").keys("<ctrl+r>").sees("! filter fails for 9")
	}},
	{"tasks / says that an expression fails for all", nil, `:archived<enter>/int(id) > 3<enter>`, func(d *driver) {
		d.sees("none of 12 tasks passes the filter, which cannot be evaluated for 12")
	}},
	{"tasks / says what is wrong with an expression", nil, `:archived<enter>/retried >`, func(d *driver) {
		d.sees("✗ filter")
		d.keys("<enter>").sees("✗ filter")
	}},
	{"tasks / that nothing passes", nil, ":archived<enter>/zebra<enter>", func(d *driver) { d.sees("none of 12 tasks passes the filter") }},
	{"tasks esc clears the filter, then goes back", nil, ":archived<enter>/zebra<enter><esc>", func(d *driver) {
		d.sees("1 of 12")
		d.keys("<esc>").sees("FINDINGS")
	}},
	{"tasks y copies the ID", nil, ":archived<enter>y", func(d *driver) {
		if !strings.Contains(d.out.String(), "\x1b]52;c;dGFzay0wMDAw\x07") {
			d.t.Errorf("the terminal was sent %q", d.out.String())
		}
		d.sees("clipboard: task-0000")
	}},
	{"tasks e explains", nil, ":archived<enter>e", func(d *driver) { d.sees("› explain", "EXPLAINED task-0000") }},
	{"tasks R plans for the marked", nil, ":archived<enter>   R", func(d *driver) {
		d.sees("Plan requeue", "Requeue 2, hold 1")
		wantPlanned(d, Ask{Verb: VerbRequeue, Refs: refs("task-0000", "task-0001", "task-0002")})
	}},
	{"tasks X plans for the one under the cursor", nil, ":archived<enter>jX", func(d *driver) {
		wantPlanned(d, Ask{Verb: VerbResolve, Refs: refs("task-0001")})
	}},
	{"tasks R where nothing may be changed", func(f *fake) { f.place.Writable, f.place.Because = false, "context \"test\" is read-only" }, ":archived<enter>R", func(d *driver) {
		d.sees("READ ONLY", "» context \"test\" is read-only")
		wantPlanned(d)
	}},

	// One task.
	{"detail tells all", nil, ":archived<enter>j<enter>", func(d *driver) {
		d.sees("Archived as failed (handler-error), but its effect is applied (2h ago", "TIMES", "attempt 2 failed", "effect applied", "now")
		d.keys("G")
		d.sees("PAYLOAD", "HEADERS", "RESULT", "ok")
	}},
	{"detail moves", nil, ":archived<enter>j<enter>", func(d *driver) {
		top := d.screen()
		for _, keys := range []string{"jk", "<down><up>", "<ctrl+d><ctrl+u>", "<pgdown><pgup>", "Gg"} {
			d.keys(keys)
			if d.screen() != top {
				d.t.Errorf("%s does not come back", keys)
			}
		}
		if d.keys("j"); d.screen() == top {
			d.t.Error("j does not scroll")
		}
	}},
	{"detail marks the lines of the payload that differ", nil, ":archived<enter><enter>G", func(d *driver) {
		d.sees(`-   "b": 1,`, `+   "a": 1,`)
		d.send(size(120, 60))
		d.sees("as it is", "canonical", "≠")
	}},
	{"detail R, X, e, y, @", nil, ":archived<enter>j<enter>R", func(d *driver) {
		wantPlanned(d, Ask{Verb: VerbRequeue, Refs: refs("task-0001")})
		d.keys("<esc>X")
		wantPlanned(d, Ask{Verb: VerbRequeue, Refs: refs("task-0001")}, Ask{Verb: VerbResolve, Refs: refs("task-0001")})
		d.keys("<esc>y").sees("clipboard: task-0001")
		d.keys("@").sees("» idemctl explain payments task-0001")
		d.keys("e").sees("EXPLAINED task-0001")
	}},
	{"a command that is folded is still one", nil, ":locks<enter>", func(d *driver) {
		d.send(size(60, 24))
		d.sees(`$ idemctl locks release \`)
	}},
	{"detail of a lock whose owner is gone", nil, ":locks<enter><enter>", func(d *driver) {
		d.sees(`the owner of this lock is gone: no task "task-0050" in queue "default"`).lacks("not read", "tried again")
	}},

	// Findings.
	{"findings are grouped", nil, ":findings<enter>", func(d *driver) {
		d.sees("12 findings", "▹ effect/lost", "▹ effect/applied-archived", "bank: gateway answered #", "$ idemctl")
	}},
	{"findings enter opens and closes", nil, ":f<enter><enter>", func(d *driver) {
		d.sees("▿ effect/", "payments/task-")
		d.keys("<enter>").lacks("payments/task-")
	}},
	{"findings l and h", nil, ":f<enter>l", func(d *driver) {
		d.sees("▿")
		d.keys("jjh").lacks("▿").on("effect/")
	}},
	{"findings enter on one opens its task", nil, ":f<enter><enter>j<enter>", func(d *driver) { d.sees("TIMES") }},
	{"findings space marks a group", nil, ":f<enter> ", func(d *driver) { d.sees("● 2 marked") }},
	{"findings * marks all", nil, ":f<enter>*", func(d *driver) {
		d.sees("● 12 marked")
		d.keys("\\").lacks("marked")
	}},
	{"findings R plans for a group", nil, ":f<enter>R", func(d *driver) { d.sees("Plan requeue", "Requeue 1, hold 1") }},
	{"findings X plans for the marked", nil, ":f<enter> X", func(d *driver) { d.sees("Plan resolve") }},
	{"findings / filters", nil, ":f<enter>/refund<enter>", func(d *driver) {
		d.sees("payment:refund", "/refund")
		d.lacks("payment:charge")
		d.keys("<esc>").sees("payment:charge")
	}},
	{"findings / by an expression", nil, `:f<enter>/status == "applied"<enter>`, func(d *driver) { d.sees("applied-archived"); d.lacks("effect/lost") }},
	{"findings y, e", nil, ":f<enter>jy", func(d *driver) {
		d.sees("clipboard: task-")
		d.keys("e").sees("EXPLAINED task-")
	}},
	{"findings a audits", nil, ":f<enter>a", func(d *driver) {
		if n := d.fake.calls["audit"]; n != 2 {
			d.t.Errorf("there were %d audits", n)
		}
	}},
	{"findings moves", nil, ":f<enter>jG", func(d *driver) {
		last := d.cursor()
		d.keys("g<pgdown>").on(strings.TrimSpace(last[len("▸"):]))
		d.keys("<pgup>k<ctrl+d><ctrl+u>")
	}},
	{"findings of nothing", func(f *fake) { f.findings = nil }, ":f<enter>", func(d *driver) { d.sees("✓ nothing is wrong") }},

	// Locks.
	{"locks are shown with what hurts first", nil, ":locks<enter>", func(d *driver) {
		d.on("orphaned")
		d.sees("3 locks", "blocks", "guards", "1h", "gone", "$ idemctl locks release")
	}},
	{"locks enter opens the task", nil, ":locks<enter>G<enter>", func(d *driver) { d.sees("› task-0020") }},
	{"locks / filters", nil, ":locks<enter>/orphaned<enter>", func(d *driver) {
		d.sees("1 lock")
		d.keys("<esc>").sees("3 locks")
	}},
	{"locks / by an expression", nil, ":locks<enter>/lock.ttl_seconds > 4000<enter>", func(d *driver) { d.sees("2 locks") }},
	{"locks w, ctrl-r, y, e", nil, ":locks<enter>", func(d *driver) {
		d.send(size(160, 24))
		d.keys("w").sees("asynq:{default}:unique")
		d.keys("<ctrl+r>")
		if n := d.fake.calls["locks"]; n != 2 {
			d.t.Errorf("the locks were read %d times", n)
		}
		d.keys("y").sees("clipboard: task-0050")
		d.keys("e").sees("EXPLAINED task-0050")
	}},
	{"locks moves", nil, ":locks<enter>jkG", func(d *driver) {
		d.on("guards")
		d.keys("g").on("orphaned")
		d.keys("<pgdown><pgup><ctrl+d><ctrl+u>").on("orphaned")
	}},
	{"no lock", func(f *fake) { f.locks = nil }, ":locks<enter>", func(d *driver) { d.sees("no lock") }},

	// Lifetimes.
	{"ttl lists the types", nil, ":ttl<enter>", func(d *driver) { d.sees("6 types", "payment:charge", "not unique", "20d 13h") }},
	{"ttl enter draws the timeline", nil, ":ttl<enter>j<enter>", func(d *driver) { d.sees("outlives every task", "retries", "‹ 25 ›", "━") }},
	{"ttl h takes a retry away, and the answer moves", nil, ":ttl<enter>j<enter>h", func(d *driver) {
		d.sees("‹ 24 ›", "was 25", "changed; 0 goes back")
		before := d.screen()
		if d.keys("l"); d.screen() == before {
			d.t.Error("l changes nothing")
		}
		d.sees("‹ 25 ›")
		d.keys("h0").sees("‹ 25 ›")
		d.keys("-").sees("‹ 24 ›")
		d.keys("+").sees("‹ 25 ›")
	}},
	{"ttl every parameter turns", nil, ":ttl<enter>j<enter>", func(d *driver) {
		for range knobs {
			d.keys("ll")
			before := d.cursor()
			if d.keys("h"); d.cursor() == before {
				d.t.Errorf("h does not turn %q", before)
			}
			d.keys("j")
		}
		d.keys("@").sees("» idemctl ttl-calc --type", "--max-retry")
		d.keys("kgG")
	}},
	{"ttl / filters by words alone", nil, ":ttl<enter>/refund<enter>", func(d *driver) {
		d.sees("payment:refund")
		d.lacks("payment:charge")
		d.keys("/<ctrl+u>retried > 1<enter>").sees("by words, not by an expression")
	}},
	{"ttl a audits", nil, ":ttl<enter>a", func(d *driver) {
		if n := d.fake.calls["audit"]; n != 2 {
			d.t.Errorf("there were %d audits", n)
		}
	}},
	{"ttl parameters move", nil, ":ttl<enter>j<enter>G", func(d *driver) {
		d.on("lock in use")
		d.keys("<ctrl+u><ctrl+u><pgup>").on("retries")
		d.keys("<pgdown><ctrl+d>").on("lock in use")
		d.keys("g").on("retries")
	}},
	{"ttl moves", nil, ":ttl<enter>jkG", func(d *driver) { d.keys("g<pgdown><pgup><ctrl+d><ctrl+u>"); d.on("invoice:send") }},

	// The journal.
	{"journal lists runs", nil, ":journal<enter>", func(d *driver) { d.sees("2 runs", "1h ago", "resolve -q payments"); d.on("resolve") }},
	{"journal enter shows a run", nil, ":journal<enter><enter>", func(d *driver) { d.sees("payments/task-0001", "? open", "✓ done") }},
	{"journal z plans to undo the run", nil, ":journal<enter>jz", func(d *driver) {
		wantPlanned(d, Ask{Verb: VerbRestore, Run: "20261130T100000Z-aa"})
	}},
	{"run enter opens the task, z undoes, y copies", nil, ":journal<enter><enter>y", func(d *driver) {
		d.sees("clipboard: task-0001")
		d.keys("z")
		wantPlanned(d, Ask{Verb: VerbRestore, Run: "20261130T110000Z-bb"})
		d.keys("<esc>jk<enter>").sees("TIMES")
	}},
	{"run moves, e", nil, ":journal<enter><enter>G", func(d *driver) {
		d.on("task-0003")
		d.keys("g").on("task-0001")
		d.keys("<pgdown>").on("task-0003")
		d.keys("<pgup>").on("task-0001")
		d.keys("<ctrl+d>").on("task-0003")
		d.keys("<ctrl+u>").on("task-0001")
		d.keys("e").sees("EXPLAINED task-0001")
	}},
	{"journal moves", nil, ":j<enter>jkGg<pgdown><pgup><ctrl+d><ctrl+u>", func(d *driver) { d.on("resolve") }},
	{"journal that cannot be read", func(f *fake) { f.fail["runs"] = errors.New("no such file") }, ":journal<enter>", func(d *driver) {
		d.sees("the journal cannot be read: no such file", "it is tried again", "! not read")
	}},
	{"z undoes the last run", nil, "z", func(d *driver) {
		wantPlanned(d, Ask{Verb: VerbRestore})
		d.sees("Plan restore")
	}},

	// Plans.
	{"plan shows what runs, what is held, and why", nil, ":archived<enter>*R", func(d *driver) {
		d.sees("Requeue 6, hold 6", "held: 6 applied", "! Queue \"payments\" is paused", "run it again", "applied: its work is do")
	}},
	{"plan f shows a part", nil, ":archived<enter>*Rf", func(d *driver) {
		d.lacks("hold  payments")
		d.keys("f").sees("hold").lacks("run it again")
		d.keys("f").sees("run it again")
	}},
	{"plan enter opens a task", nil, ":archived<enter>R<enter>", func(d *driver) { d.sees("TIMES") }},
	{"plan A asks, esc does not apply", nil, ":archived<enter>RA", func(d *driver) {
		d.sees("This will requeue 1 task. Type requeue 1 to go on")
		d.keys("<esc>").lacks("Type requeue")
		wantApplied(d, 0)
	}},
	{"plan a wrong word does not apply", nil, ":archived<enter>RAyes<enter>", func(d *driver) {
		d.sees("✗ that is not it")
		wantApplied(d, 0)
	}},
	{"plan the right word applies", nil, ":archived<enter>*RArequeue 6<enter>", func(d *driver) {
		wantApplied(d, 1)
		d.sees("Applied 6 of 6: ✓ 6 done", "Journal run 20261130T120000Z-aa")
	}},
	{"plan of a protected context wants its name", func(f *fake) { f.place.Protected = true }, ":archived<enter>RArequeue 1<enter>", func(d *driver) {
		wantApplied(d, 0)
		d.keys("<ctrl+u>test<enter>")
		wantApplied(d, 1)
	}},
	{"plan c runs a canary first", nil, ":archived<enter>Rc", func(d *driver) {
		d.sees("Canary: one is run first")
		d.keys("Arequeue 1<enter>")
		if o := d.fake.changer.options[0]; o.Canary != 1 {
			d.t.Errorf("canary %d", o.Canary)
		}
	}},
	{"plan c twice is no canary", nil, ":archived<enter>Rcc", func(d *driver) { d.lacks("Canary") }},
	{"plan @ is the command", nil, ":archived<enter>R@", func(d *driver) { d.sees("» idemctl requeue") }},
	{"plan that cannot be made", func(f *fake) { f.fail["plan"] = errors.New("the ledger is gone") }, ":archived<enter>R", func(d *driver) {
		d.sees("no plan: the ledger is gone")
		d.fake.fail = map[string]error{}
		d.keys("<ctrl+r>").sees("Requeue 1, hold 0")
	}},
	{"plan of which nothing runs cannot be applied", func(f *fake) { f.changer = &fakeChanger{fake: f} }, ":archived<enter>RA", func(d *driver) { d.sees("Type requeue 1") }},
	{"plan moves, e, y", nil, ":archived<enter>*RjkGg<pgdown><pgup><ctrl+d><ctrl+u>y", func(d *driver) {
		d.sees("clipboard: task-0000")
		d.keys("e").sees("EXPLAINED task-0000")
	}},
	{"plan that ends early says why", func(f *fake) { f.fail["apply"] = errFull }, ":archived<enter>RArequeue 1<enter>", func(d *driver) {
		d.sees("It ended early: the journal is full")
	}},
})

var errFull = errors.New("the journal is full")

func quits(d *driver) {
	d.t.Helper()
	if !d.quit {
		d.t.Error("it does not quit")
	}
	if d.ctx.Err() == nil {
		d.t.Error("its requests go on")
	}
}

func refs(ids ...string) []inspect.Ref {
	var out []inspect.Ref
	for _, id := range ids {
		out = append(out, inspect.Ref{Queue: "payments", ID: id})
	}
	return out
}

func wantPlanned(d *driver, want ...Ask) {
	d.t.Helper()
	got := d.fake.changer.planned
	if len(got) != len(want) {
		d.t.Fatalf("planned %v, want %v\n%s", got, want, d.screen())
	}
	for i := range want {
		if got[i].Verb != want[i].Verb || got[i].Run != want[i].Run || len(got[i].Refs) != len(want[i].Refs) {
			d.t.Fatalf("planned %v, want %v", got[i], want[i])
		}
		for n := range want[i].Refs {
			if got[i].Refs[n] != want[i].Refs[n] {
				d.t.Errorf("planned %v, want %v", got[i], want[i])
			}
		}
	}
}

func wantApplied(d *driver, n int) {
	d.t.Helper()
	if got := len(d.fake.changer.applied); got != n {
		d.t.Errorf("%d plans were applied, want %d", got, n)
	}
}
