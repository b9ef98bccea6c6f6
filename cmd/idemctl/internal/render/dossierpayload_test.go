package render

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// payloadDossier is the sample dossier with another payload of a unique task.
func payloadDossier(t *testing.T, text string) *reconcile.Dossier {
	t.Helper()
	d := sampleDossier(t)
	d.Task.Payload, d.Task.UniqueKey = []byte(text), "lock"
	return d
}

// payloadSection is what the dossier says of its payload.
func payloadSection(t *testing.T, d *reconcile.Dossier, redact ...string) string {
	t.Helper()
	o := sampleOptions(FormatTable, 100, true)
	o.Redact = redact
	var b bytes.Buffer
	if err := WriteDossier(&b, o, d); err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(b.String(), "PAYLOAD\n")
	if !ok {
		t.Fatalf("nothing is said of the payload:\n%s", b.String())
	}
	return section
}

func TestDossierMarksTheBytesThatKeepAPayloadFromItsLock(t *testing.T) {
	d := payloadDossier(t, `{"id": 42,"at":"2026-07-01T03:12:09.123Z"}`)
	got := payloadSection(t, d)
	for _, want := range []string{
		"Not canonical: the same work, written canonically, takes another lock.",
		"notes: key-order",
		"whitespace at $ · byte 6",
		"    {\"id\": 42,\"at\":\"2026-07-01T03:12:09.123Z\"}\n          ^\n",
		"timestamp-subsecond at $.at · byte 15",
		"asynq:{default}:unique:payment:charge:",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not said in:\n%s", want, got)
		}
	}
}

func TestDossierReassuresOfACanonicalPayload(t *testing.T) {
	got := payloadSection(t, payloadDossier(t, `{"amount":1999,"event_id":"evt_42"}`))
	if want := "  Canonical: equal work that is written canonically takes the same lock.\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestDossierOfAnUndefinedPayloadOffersNoLock(t *testing.T) {
	got := payloadSection(t, payloadDossier(t, `{"id":1,"id":2}`))
	if !strings.Contains(got, "Without a canonical form") || strings.Contains(got, "canonical lock") {
		t.Errorf("of a payload without a canonical form:\n%s", got)
	}
}

func TestDossierHidesRedactedBytesOfItsPayload(t *testing.T) {
	d := payloadDossier(t, `{"card": {"number":"4111111111111111.5 "},"n":1.0}`)
	if got := payloadSection(t, d, "card"); strings.Contains(got, "4111") || !strings.Contains(got, "[redacted]") {
		t.Errorf("the card is shown:\n%s", got)
	}
	o := sampleOptions(FormatJSON, 0, false)
	o.Redact = []string{"card"}
	var b bytes.Buffer
	if err := WriteDossier(&b, o, d); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "4111") {
		t.Errorf("the card is shown: %s", b.String())
	}
}

func TestDossierSaysWhatTheHolderOfTheCanonicalLockMeans(t *testing.T) {
	lock := func(state reconcile.LockState, owner inspect.State) *reconcile.Lock {
		return &reconcile.Lock{Key: "k", Owner: "other-1", TTL: time.Hour, State: state, OwnerState: owner}
	}
	for want, tt := range map[string]struct {
		lock *reconcile.Lock
		own  inspect.State
	}{
		"Task other-1 (retry) holds the canonical lock for 1h: the same work is enqueued twice.": {
			lock(reconcile.LockTaken, inspect.StateRetry), inspect.StatePending,
		},
		"Task other-1 (archived) holds the canonical lock for 1h: it is the same work.": {
			lock(reconcile.LockTaken, inspect.StateArchived), inspect.StatePending,
		},
		"Task other-1 holds the canonical lock for 1h, and is other work or gone.": {
			lock(reconcile.LockTaken, inspect.StateUnknown), inspect.StatePending,
		},
		"Nobody holds the canonical lock; locks of other spellings were not looked for.": {
			lock(reconcile.LockFree, inspect.StateUnknown), inspect.StatePending,
		},
	} {
		d := payloadDossier(t, `{"id": 42}`)
		d.Task.State, d.FormLock = tt.own, tt.lock
		if got := payloadSection(t, d); !strings.Contains(got, want) {
			t.Errorf("%q is not said in:\n%s", want, got)
		}
	}
}

func TestDossierJSONHasWhatCheckSays(t *testing.T) {
	d := payloadDossier(t, `{"id": 42}`)
	d.FormLock = &reconcile.Lock{Key: "k", State: reconcile.LockFree}
	var b bytes.Buffer
	if err := WriteDossier(&b, sampleOptions(FormatJSON, 0, false), d); err != nil {
		t.Fatal(err)
	}
	var got struct {
		PayloadCheck struct {
			Canonical bool
			Rules     []string
		} `json:"payload_check"`
		CanonicalLock *struct{ Key, State string } `json:"canonical_lock"`
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.PayloadCheck.Canonical || len(got.PayloadCheck.Rules) != 1 || got.PayloadCheck.Rules[0] != "whitespace" || got.CanonicalLock == nil {
		t.Errorf("%+v", got)
	}
	d.Task.Defect = inspect.DefectUndecodable
	b.Reset()
	if err := WriteDossier(&b, sampleOptions(FormatJSON, 0, false), d); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `"payload_check":null`) {
		t.Errorf("a message that cannot be read has a payload: %s", b.String())
	}
}

// A finding on a type names some of its tasks, and none of them as its own.
func TestFindingOnATypeNamesExamples(t *testing.T) {
	f := reconcile.Finding{
		Code: "payload/whitespace", Severity: reconcile.SeverityHigh, TaskCount: 40, Queues: []string{"default"},
		Task:   inspect.Task{Ref: inspect.Ref{Queue: "default"}, Type: "order:sync"},
		Tasks:  []inspect.Ref{{Queue: "default", ID: "a"}, {Queue: "default", ID: "b"}},
		Detail: `$, byte 6 of task "a"`,
	}
	out := audited(t, sampleOptions(FormatTable, 100, true), sampleReport(t), f)
	for _, want := range []string{"order:sync", "also default/b\n", "idemctl payload check --queue=default --id=a"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not said in:\n%s", want, out)
		}
	}
	if strings.Contains(out, "38 more") {
		t.Errorf("tasks that are no examples are counted as such:\n%s", out)
	}
}

// The bytes are payload, and are shown and hidden as payloads are.
func TestFindingOnPayloadsShowsItsBytesOnlyWherePayloadsAreShown(t *testing.T) {
	f := reconcile.Finding{
		Code: "payload/volatile-field", Severity: reconcile.SeverityHigh, TaskCount: 2, Queues: []string{"default"},
		Task: inspect.Task{Ref: inspect.Ref{Queue: "default"}, Type: "mail:send"},
		Marked: []reconcile.Marked{
			{ID: "a", Payload: []byte(`{"to":"ann","at":17.25}`), Start: 17, End: 22},
			{ID: "b", Payload: []byte(`{"to":"ann"}`), Start: -1, End: -1},
		},
	}
	for _, tt := range []struct {
		show   bool
		redact []string
		want   []string
		not    []string
	}{
		{show: false, not: []string{"17.25", "ann"}},
		{show: true, want: []string{"      {\"to\":\"ann\",\"at\":17.25}\n                       ^^^^^\n", "(not there)"}},
		{show: true, redact: []string{"at"}, want: []string{"[redacted]", "ann"}, not: []string{"17.25"}},
		{show: true, redact: []string{"to"}, want: []string{"17.25"}, not: []string{"ann"}},
	} {
		o := sampleOptions(FormatTable, 100, true)
		o.ShowPayload, o.Redact = tt.show, tt.redact
		out := audited(t, o, sampleReport(t), f)
		for _, want := range tt.want {
			if !strings.Contains(out, want) {
				t.Errorf("shown %t, without %v: %q is not in\n%s", tt.show, tt.redact, want, out)
			}
		}
		for _, not := range tt.not {
			if strings.Contains(out, not) {
				t.Errorf("shown %t, without %v: %q is in\n%s", tt.show, tt.redact, not, out)
			}
		}
	}
}
