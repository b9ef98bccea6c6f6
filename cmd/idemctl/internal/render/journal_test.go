package render

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/idemctl/idemctl/reconcile/journal"
)

// message encodes the fields of a task's message that the samples have.
func message(taskType, payload, lastErr string) string {
	var b []byte
	for number, value := range map[protowire.Number]string{1: taskType, 2: payload, 7: lastErr} {
		b = protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), value)
	}
	b = protowire.AppendVarint(protowire.AppendTag(b, 5, protowire.VarintType), 25)
	b = protowire.AppendVarint(protowire.AppendTag(b, 6, protowire.VarintType), 25)
	return string(b)
}

func sampleImage() *journal.TaskImage {
	score := float64(before(3 * time.Hour).Unix())
	return &journal.TaskImage{
		Key: "asynq:{payments}:t:evt_42",
		Fields: []journal.Field{
			{Name: "msg", Value: message("payment:charge", `{"card":"4111","amount":9.50}`, "context deadline exceeded")},
			{Name: "result", Value: `{"card":"4111"}`},
			{Name: "state", Value: "archived"},
		},
		Places: []journal.Place{{Key: "asynq:{payments}:archived", Score: &score}},
		Lock:   &journal.LockImage{Key: "asynq:{payments}:unique:payment:charge:0c1", Owner: "evt_42", ExpireAt: sampleNow.Add(time.Hour)},
	}
}

// sampleRecords are a run with an item of every outcome.
func sampleRecords() []journal.Record {
	intent := func(item, id string, task *journal.TaskImage) journal.Record {
		return journal.Record{
			Kind: journal.KindIntent, Run: sampleRun, Item: item, At: before(2 * time.Hour), Change: journal.ChangeRequeue,
			Queue: "payments", TaskID: id, Evidence: json.RawMessage(`{"status":"not-applied","state":"archived"}`), Task: task,
		}
	}
	result := func(item string, o journal.Outcome, found, err string) journal.Record {
		return journal.Record{Kind: journal.KindResult, Run: sampleRun, Item: item, At: before(119 * time.Minute), Outcome: o, Found: found, Error: err}
	}
	hidden := sampleImage()
	hidden.Redacted = true
	late := result("4", journal.OutcomeDone, "now: pending", "")
	late.Operator, late.Host, late.At = "bob", "host-2", before(time.Hour)
	lock := journal.Record{Kind: journal.KindIntent, Run: sampleRun, Item: "6", At: before(time.Hour), Change: journal.ChangeReleaseLock, Target: "asynq:{q}:unique:x"}
	return []journal.Record{
		{
			Kind: journal.KindRun, Run: sampleRun, At: before(2 * time.Hour), Operator: "ann", Host: "host-1", Context: "prod",
			Command: "requeue -q payments", Reason: "provider was down", PlanDigest: "sha256:77",
		},
		intent("1", "evt_42", sampleImage()), intent("2", "evt_43", hidden), intent("4", "evt_45", nil), intent("5", "evt_46", sampleImage()), lock,
		result("1", journal.OutcomeDone, "", ""), result("2", journal.OutcomeFailed, "", "NOPERM this user has no permissions"),
		result("3", journal.OutcomeRefused, "its effect is applied now, and was not-applied when this was planned", ""),
		result("4", journal.OutcomeUnknown, "", "connection reset by peer"), late, result("7", journal.OutcomeUnknown, "", "cut"),
	}
}

const sampleRun = "20260701T011209Z-1f0c3a9b7e"

func summaryOf(t testing.TB, records []journal.Record) journal.Summary {
	t.Helper()
	var last journal.Summary
	for s, err := range journal.Summarize(func(yield func(journal.Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}) {
		if err != nil {
			t.Fatal(err)
		}
		last = s
	}
	return last
}

func sampleSummaries(t testing.TB) []journal.Summary {
	old := journal.Summary{
		Run: journal.Run{ID: "20260630T220000Z-aa00000000", Command: "integrity repair --all"}, Operator: "ann", Host: "host-1",
		Began: before(26 * time.Hour), Ended: before(26 * time.Hour), Intents: 1200, Done: 1200, Refused: 3,
	}
	failed := journal.Summary{Run: journal.Run{ID: "20260601T220000Z-bb00000000"}, Began: before(700 * time.Hour), Ended: before(700 * time.Hour), Intents: 1, Failed: 1}
	cut := journal.Summary{
		Run:      journal.Run{ID: "20260601T210000Z-cc00000000", Command: "requeue --queue=payments --yes", Context: "prod", Planned: 1000},
		Operator: "ann", Host: "host-1", Began: before(701 * time.Hour), Ended: before(701 * time.Hour),
		Intents: 412, Done: 412, NotBegun: 588, EndedBy: "stopped by the operator",
	}
	killed := journal.Summary{Run: journal.Run{ID: "20260601T200000Z-dd00000000", Command: "tui: requeue of 40 tasks", Planned: 40}, Began: before(702 * time.Hour), NotBegun: 40}
	return []journal.Summary{summaryOf(t, sampleRecords()), old, failed, cut, killed, {Run: journal.Run{ID: "headless"}}}
}

// cutRecords are a run that was stopped after three of its seven items, and before
// one that it had intended.
func cutRecords() []journal.Record {
	all := sampleRecords()
	run, done, left := all[0], all[1], all[2]
	run.Planned = 7
	result := func(item string, o journal.Outcome, found string) journal.Record {
		return journal.Record{Kind: journal.KindResult, Run: sampleRun, Item: item, At: before(119 * time.Minute), Outcome: o, Found: found}
	}
	not := result("2", journal.OutcomeRefused, "not begun: interrupted (SIGTERM)")
	not.NotBegun = 1
	return []journal.Record{
		run, done, left, result("1", journal.OutcomeDone, ""), not, result("3", journal.OutcomeRefused, "the task is gone"),
		{Kind: journal.KindEnd, Run: sampleRun, At: before(118 * time.Minute), NotBegun: 5, Error: "interrupted (SIGTERM)"},
	}
}

var (
	soundSource  = JournalSource{Path: "/home/ann/.local/state/idemctl/journal.jsonl"}
	brokenSource = JournalSource{Table: "table idemctl_journal of ledger main", Problems: []string{"line 3 is damaged", "7 records are missing"}}
)

func sampleJournalRun(t testing.TB, records []journal.Record) *JournalRun {
	var items JournalItems
	for i := range records {
		items.Add(&records[i])
	}
	return &JournalRun{Summary: summaryOf(t, records), Items: items.All()}
}

func wholeItem(records []journal.Record, item string) *JournalWhole {
	var items JournalItems
	w := &JournalWhole{Run: sampleRun}
	for i := range records {
		r := &records[i]
		if r.Item != item {
			continue
		}
		items.Add(r)
		if r.Kind == journal.KindResult {
			w.Results = append(w.Results, *r)
		} else {
			w.Task = r.Task
		}
	}
	w.JournalItem = items.All()[0]
	return w
}

var journalFaces = []struct {
	name   string
	format Format
	width  int
	tty    bool
	color  bool
}{
	{"terminal-80.txt", FormatTable, 80, true, false},
	{"terminal-80-color.txt", FormatTable, 80, true, true},
	{"pipe.tsv", FormatTable, 0, false, false},
	{"wide-pipe.tsv", FormatWide, 0, false, false},
	{"terminal.json", FormatJSON, 80, true, false},
	{"stream.ndjson", FormatNDJSON, 0, false, false},
}

func TestJournalKeepsItsFaces(t *testing.T) {
	for _, face := range journalFaces {
		t.Run(face.name, func(t *testing.T) {
			o := sampleOptions(face.format, face.width, face.tty)
			o.Color = face.color
			var runs, run, cut, item bytes.Buffer
			for _, err := range []error{
				WriteJournalRuns(&runs, o, brokenSource, sampleSummaries(t), 7),
				WriteJournalRun(&run, o, soundSource, sampleJournalRun(t, sampleRecords())),
				WriteJournalRun(&cut, o, soundSource, sampleJournalRun(t, cutRecords())),
				WriteJournalItem(&item, o, soundSource, wholeItem(sampleRecords(), "1")),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			golden(t, "journal-runs-"+face.name, runs.String())
			golden(t, "journal-run-"+face.name, run.String())
			golden(t, "journal-cut-"+face.name, cut.String())
			golden(t, "journal-item-"+face.name, item.String())
		})
	}
}

// hostileRecords are the samples with every trick in every place that may hold
// one.
func hostileRecords() []journal.Record {
	var all []journal.Record
	for i, trick := range tricks {
		item := string(rune('a' + i%26))
		score := math.Inf(1)
		all = append(all, journal.Record{
			Kind: journal.KindRun, Run: sampleRun, At: sampleNow, Operator: trick, Host: trick, Context: trick, Command: trick, Reason: trick, PlanDigest: trick, Planned: 100,
		}, journal.Record{
			Kind: journal.KindIntent, Run: sampleRun, Item: item, At: sampleNow, Change: journal.Change(strings.ToValidUTF8(trick, "?")), Queue: trick, TaskID: trick,
			Target: trick, Reason: trick, Task: &journal.TaskImage{
				Key: trick, Fields: []journal.Field{
					{Name: trick, Value: trick},
					{Name: "state", Value: trick},
					{Name: "result", Value: trick},
					{Name: "msg", Value: message(strings.ToValidUTF8(trick, "?"), trick, strings.ToValidUTF8(trick, "?"))},
				},
				Places: []journal.Place{{Key: trick}, {Key: trick, Score: &score}}, Lock: &journal.LockImage{Key: trick, Owner: trick},
			},
		}, journal.Record{Kind: journal.KindResult, Run: sampleRun, Item: item, At: sampleNow, Outcome: journal.OutcomeRefused, Found: trick, Error: trick, Operator: trick, Host: trick},
			journal.Record{Kind: journal.KindEnd, Run: sampleRun, At: sampleNow, Error: trick, NotBegun: 3})
	}
	return all
}

func TestJournalShowsHostileTextAndObeysNone(t *testing.T) {
	records := hostileRecords()
	run := sampleJournalRun(t, records)
	source := JournalSource{Path: tricks[0], Problems: tricks}
	for _, format := range JournalFormats() {
		for _, tty := range []bool{false, true} {
			o := sampleOptions(format, 60, tty)
			o.Limit = -1
			var b bytes.Buffer
			err := WriteJournalRuns(&b, o, source, []journal.Summary{run.Summary}, 1)
			if err == nil {
				err = WriteJournalRun(&b, o, source, run)
			}
			for i := range run.Items {
				if err == nil {
					err = WriteJournalItem(&b, o, source, wholeItem(records, run.Items[i].Item))
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			unseen(t, b.String())
		}
	}
}

func TestJournalDocumentsAreAsPublished(t *testing.T) {
	for _, c := range []struct {
		schema string
		write  func(b *bytes.Buffer, o Options, s JournalSource, records []journal.Record) error
	}{
		{"journalruns.v1.json", func(b *bytes.Buffer, o Options, s JournalSource, records []journal.Record) error {
			return WriteJournalRuns(b, o, s, []journal.Summary{summaryOf(t, records), {Run: journal.Run{ID: "x"}}}, 3)
		}},
		{"journalruns.v1.json", func(b *bytes.Buffer, o Options, s JournalSource, _ []journal.Record) error {
			return WriteJournalRuns(b, o, s, nil, 0)
		}},
		{"journalrun.v1.json", func(b *bytes.Buffer, o Options, s JournalSource, records []journal.Record) error {
			return WriteJournalRun(b, o, s, sampleJournalRun(t, records))
		}},
		{"journalrun.v1.json", func(b *bytes.Buffer, o Options, s JournalSource, _ []journal.Record) error {
			return WriteJournalRun(b, o, s, &JournalRun{})
		}},
	} {
		document, line := publishedPayload(t, c.schema, ""), publishedPayload(t, c.schema, "#/$defs/line")
		for _, records := range [][]journal.Record{sampleRecords(), cutRecords(), hostileRecords()} {
			for _, source := range []JournalSource{soundSource, brokenSource, {}} {
				var b bytes.Buffer
				if err := c.write(&b, sampleOptions(FormatJSON, 0, false), source, records); err != nil {
					t.Fatal(err)
				}
				validate(t, document, b.String())
				b.Reset()
				if err := c.write(&b, sampleOptions(FormatNDJSON, 0, false), source, records); err != nil {
					t.Fatal(err)
				}
				for l := range strings.Lines(b.String()) {
					validate(t, line, l)
				}
			}
		}
	}
}

func TestJournalItemsAreAsPublished(t *testing.T) {
	document := publishedPayload(t, "journalitem.v1.json", "")
	for _, records := range [][]journal.Record{sampleRecords(), cutRecords(), hostileRecords()} {
		for _, item := range sampleJournalRun(t, records).Items {
			for _, redact := range [][]string{nil, {"card"}} {
				o := sampleOptions(FormatJSON, 0, false)
				o.Redact = redact
				var b bytes.Buffer
				if err := WriteJournalItem(&b, o, soundSource, wholeItem(records, item.Item)); err != nil {
					t.Fatal(err)
				}
				validate(t, document, b.String())
			}
		}
	}
}

func TestJournalItemHidesWhatIsRedacted(t *testing.T) {
	for _, format := range JournalFormats() {
		o := sampleOptions(format, 100, true)
		o.Redact = []string{"card"}
		var b bytes.Buffer
		if err := WriteJournalItem(&b, o, soundSource, wholeItem(sampleRecords(), "1")); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "4111") || !strings.Contains(b.String(), "9.50") {
			t.Errorf("%s: the card is shown, or the amount is not:\n%s", format, b.String())
		}
	}
}

func TestJournalLimitSaysWhatItLeavesOut(t *testing.T) {
	for _, c := range []struct {
		tty  bool
		want string
	}{{false, "# 2 items more than --limit"}, {true, "2 more items; --limit -1 shows all"}} {
		o := sampleOptions(FormatTable, 80, c.tty)
		o.Limit = 5
		var b bytes.Buffer
		if err := WriteJournalRun(&b, o, soundSource, sampleJournalRun(t, sampleRecords())); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), c.want) || strings.Contains(b.String(), "cut") {
			t.Errorf("%s", b.String())
		}
	}
}

func TestJournalRefusesOtherFormats(t *testing.T) {
	for _, format := range []Format{FormatCSV, FormatMarkdown, FormatName} {
		var b bytes.Buffer
		o := sampleOptions(format, 0, false)
		for _, err := range []error{
			WriteJournalRuns(&b, o, soundSource, nil, 0), WriteJournalRun(&b, o, soundSource, &JournalRun{}),
			WriteJournalItem(&b, o, soundSource, &JournalWhole{}),
		} {
			if err == nil || b.Len() > 0 {
				t.Errorf("%s was written", format)
			}
		}
	}
}

// What is counted of a run in the list is what its items say.
func TestJournalItemsAddUpToTheSummary(t *testing.T) {
	for _, records := range [][]journal.Record{sampleRecords(), cutRecords()} {
		run := sampleJournalRun(t, records)
		got := map[string]int{}
		for _, i := range run.Items {
			if !i.NotBegun {
				got[i.Outcome]++
			}
		}
		s := run.Summary
		want := map[string]int{"done": s.Done, "refused": s.Refused, "failed": s.Failed, "unknown": s.Unknown, "pending": s.Pending}
		for outcome, n := range want {
			if got[outcome] != n {
				t.Errorf("%d items are %s, and the summary says %d", got[outcome], outcome, n)
			}
		}
	}
	run := sampleJournalRun(t, sampleRecords())
	if late := run.Items[2]; late.SettledBy != "bob@host-2" || late.Outcome != "done" || late.Found != "now: pending" {
		t.Errorf("the item that another run settled: %+v", late)
	}
}

// A journal may have been written by anything: what is no object of JSON is shown as
// it stands.
func TestEvidenceIsShownAFactALine(t *testing.T) {
	for text, want := range map[string][]string{
		`{"code":"effect/lost","attempts":{"given":3},"forced":true,"null":null}`: {"code effect/lost", `attempts {"given":3}`, "forced true", "null null"},
		`{"a\u001b[31m":"b\n"}`: {`a\x1b[31m b\n`},
		`{"a":1`:                {`{"a":1`},
		`[1,2]`:                 {`[1,2]`},
		``:                      {``},
		`{}`:                    nil,
	} {
		if diff := cmp.Diff(want, membersOf(json.RawMessage(text))); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// A journal of which nothing can be read is no journal without runs.
func TestJournalThatCannotBeReadIsNotCalledEmpty(t *testing.T) {
	for _, tt := range []struct {
		source JournalSource
		want   string
	}{{soundSource, "✓ No run is in "}, {brokenSource, "? No run can be read in "}} {
		var b bytes.Buffer
		if err := WriteJournalRuns(&b, sampleOptions(FormatTable, 80, true), tt.source, nil, 0); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(b.String(), tt.want) {
			t.Errorf("want %q before\n%s", tt.want, b.String())
		}
	}
}
