package reconcile

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idemctl/idemctl/inspect"
)

// subject is a finding with every field a filter can look at.
func subject() Finding {
	return Finding{
		Code: CodeAppliedArchived, Severity: SeverityHigh,
		Task: inspect.Task{
			Ref: inspect.Ref{Queue: "billing", ID: "evt_42"}, Type: "payment:charge", State: inspect.StateArchived,
			Payload: []byte(`{"amount":12.5,"count":7,"big":9007199254740993,"user":{"name":"ann"},"tags":["a","b"]}`),
			Headers: map[string]string{"tenant": "acme"}, Group: "g1", Retried: 4, MaxRetry: 25,
			LastErr: "bank: timeout", LastFailedAt: ago(time.Hour), NextProcessAt: noon.Add(time.Minute),
			ArchivedAt: ago(time.Hour), CompletedAt: ago(2 * time.Hour), Deadline: noon, Timeout: 90 * time.Second,
			UniqueKey: "asynq:{billing}:unique:payment:charge:00",
		},
		Key: "evt_42", Status: StatusApplied, Reason: ReasonTwin, Cause: CauseHandler,
		Attribution: AttributionLast, AppliedAt: ago(61 * time.Minute),
		Lock: &Lock{Key: "asynq:{billing}:unique:payment:charge:00", Owner: "evt_41", TTL: 90 * time.Second, State: LockTaken},
	}
}

func TestFilterSeesTaskEffectAndLock(t *testing.T) {
	passing := []string{
		`type startsWith "payment:" && retried > 3`,
		`id == "evt_42" && queue == "billing" && group == "g1"`,
		`state == "archived"`,
		`headers.tenant == "acme" && headers["none"] == ""`,
		`max_retry - retried == 21`,
		`last_error contains "timeout" && last_error matches "^bank"`,
		`error_shape == "bank: timeout"`,
		`text contains "bank: timeout" && text contains "evt_42" && text contains "applied-archived" && text contains "acme" == false`,
		`$env["error_shape"] == "bank: timeout"`,
		`last_failed_at < applied_at + duration("2m") && applied_at < last_failed_at`,
		`next_process_at > deadline && archived_at == last_failed_at && completed_at < archived_at`,
		`timeout == duration("90s")`,
		`key == "evt_42" && status == "applied" && reason == "twin"`,
		`cause == "handler-error" && attribution == "last-attempt"`,
		`code == "effect/applied-archived" && severity == "high"`,
		`code startsWith "effect/" and severity in ["high", "critical"]`,
		`unique && lock.state == "taken" && lock.owner != id && lock.ttl_seconds == 90`,
		`lock.key endsWith ":00"`,
		`payload.user.name == "ann"`,
		`payload.count > 6 && payload.count < 8`,
		`payload.big == 9007199254740993`,
		`"a" in payload.tags`,
		`payload.none == nil`,
		`payload?.none?.deeper == nil`,
		`true`,
	}
	for _, text := range passing {
		t.Run(text, func(t *testing.T) {
			f, err := CompileFilter(text)
			if err != nil {
				t.Fatal(err)
			}
			fd := subject()
			if !f.Passes(Subject{Finding: &fd}) {
				t.Error("does not pass")
			}
			not, err := CompileFilter("!(" + text + ")")
			if err != nil {
				t.Fatal(err)
			}
			if not.Passes(Subject{Finding: &fd}) {
				t.Error("its opposite passes too")
			}
		})
	}
}

// A number that a filter cannot compare hides the finding without a word.
func TestFilterComparesEveryJSONNumber(t *testing.T) {
	for _, text := range []string{
		`payload.amount > 10`, `payload.amount < 13`, `payload.amount == 12.5`, `payload.amount > payload.count`, `payload.amount * 2 == 25`,
	} {
		f, err := CompileFilter(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		fd := subject()
		if !f.Passes(Subject{Finding: &fd}) {
			t.Errorf("%s does not pass for an amount of 12.5", text)
		}
	}
}

func TestFilterThatCannotBeEvaluatedDoesNotPass(t *testing.T) {
	for _, text := range []string{
		`payload.none.deeper == 1`, `payload.user > 3`, `payload.count startsWith "7"`, `payload.user.name`, `payload.tags[9] == "a"`,
	} {
		f, err := CompileFilter(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		fd := subject()
		if f.Passes(Subject{Finding: &fd}) {
			t.Errorf("%s passes", text)
		}
	}
}

func TestFilterSeesAJudgedTaskAsItsFinding(t *testing.T) {
	fd := subject()
	j := Judged{Task: fd.Task, Key: fd.Key, Verdict: Verdict{
		Status: fd.Status, Reason: fd.Reason, Cause: fd.Cause, Attribution: fd.Attribution,
		AppliedAt: fd.AppliedAt, Codes: []Code{fd.Code},
	}}
	for _, text := range []string{
		`status == "applied" && reason == "twin" && cause == "handler-error" && attribution == "last-attempt"`,
		`code == "effect/applied-archived" && severity == "high" && key == "evt_42"`,
		`applied_at < last_failed_at && payload.count == 7 && unique`,
	} {
		f, err := CompileFilter(text)
		if err != nil {
			t.Fatal(err)
		}
		if !f.Passes(Subject{Judged: &j}) || !f.Passes(Subject{Finding: &fd}) {
			t.Errorf("%s: judged %t, finding %t", text, f.Passes(Subject{Judged: &j}), f.Passes(Subject{Finding: &fd}))
		}
	}
	clean := Judged{Task: with(fd.Task, func(t *inspect.Task) { t.State = inspect.StatePending }), Verdict: Verdict{Codes: []Code{CodeInDoubt}}}
	f, err := CompileFilter(`code == "effect/in-doubt" && severity == "warning"`)
	if err != nil {
		t.Fatal(err)
	}
	if !f.Passes(Subject{Judged: &clean}) {
		t.Error("a waiting task's doubt is no warning to the filter")
	}
	none, err := CompileFilter(`code == "" && status == "unknown" && !unique && lock.owner == ""`)
	if err != nil {
		t.Fatal(err)
	}
	if !none.Passes(Subject{Judged: &Judged{}}) {
		t.Error("a task without a finding has a code")
	}
}

func TestFilterTakesPayloadsThatAreNotJSONAsText(t *testing.T) {
	for text, payload := range map[string]string{
		`payload == "evt_42"`:           "evt_42",
		`payload contains "order=7"`:    "order=7;user=9",
		`payload == nil`:                "\xff\xfe",
		`payload == nil && true`:        "",
		`payload startsWith "{\"a\":1"`: `{"a":1}{"a":2}`,
	} {
		f, err := CompileFilter(text)
		if err != nil {
			t.Fatal(err)
		}
		fd := subject()
		fd.Task.Payload = []byte(payload)
		if !f.Passes(Subject{Finding: &fd}) {
			t.Errorf("%s does not pass for the payload %q", text, payload)
		}
	}
}

func TestNilFilterPassesEverything(t *testing.T) {
	var f *Filter
	fd := subject()
	if !f.Passes(Subject{Finding: &fd}) || !f.Passes(Subject{}) || f.String() != "" {
		t.Error("no filter filters")
	}
}

func TestCompileFilterNamesTheFaultInOneLine(t *testing.T) {
	for _, text := range []string{
		"", "retried >", "nosuch == 1", `retried + 1`, `"text"`, `retried > "three"`, `lock.nosuch == ""`, `id ==`, `last_failed_at > 3`,
	} {
		_, err := CompileFilter(text)
		if err == nil {
			t.Errorf("CompileFilter(%q) gave no error", text)
			continue
		}
		if strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "filter ") {
			t.Errorf("CompileFilter(%q) = %q, want one line that names the filter", text, err)
		}
	}
}

func TestFilterServesSeveralAtOnceAndChangesNothing(t *testing.T) {
	f, err := CompileFilter(`payload.user.name == "ann" && retried > 3`)
	if err != nil {
		t.Fatal(err)
	}
	fd := subject()
	payload := string(fd.Task.Payload)
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for range 200 {
				if !f.Passes(Subject{Finding: &fd}) {
					t.Error("does not pass")
					return
				}
			}
		})
	}
	readers.Wait()
	if string(fd.Task.Payload) != payload {
		t.Error("the payload was changed")
	}
}
