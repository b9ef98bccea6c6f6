package render

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// everyProof has an item of each proof; its texts are those given, in turn.
func everyProof(texts ...string) ([]reconcile.Verified, reconcile.Verification) {
	sum := reconcile.Verification{ByProof: map[reconcile.Proof]int{}}
	var items []reconcile.Verified
	proofs := reconcile.Proofs()
	for i := range max(len(proofs), len(texts)) {
		p, t := proofs[i%len(proofs)], texts[i%len(texts)]
		v := reconcile.Verified{
			Item: fmt.Sprint(i), Change: journal.ChangeRequeue, Ref: inspect.Ref{Queue: t, ID: t}, Type: t, Proof: p,
			Outcome: journal.OutcomeDone, Found: t, Error: t, Key: t, Note: t,
		}
		if p != reconcile.ProofOpen {
			v.Watched = reconcile.Watched{
				Ref: v.Ref, Task: inspect.Task{State: inspect.StateArchived, LastErr: t}, Status: reconcile.StatusUnknown,
				Reason: reconcile.ReasonLedger, AppliedAt: before(time.Hour),
			}
		}
		items = append(items, v)
		sum.Items++
		sum.ByProof[p]++
	}
	items = append(items, reconcile.Verified{Item: "lost"}, reconcile.Verified{Item: "lock", Target: texts[0], Proof: reconcile.ProofNotJudged})
	return items, sum
}

func verifiedText(t testing.TB, o Options, items []reconcile.Verified, sum reconcile.Verification, problem error) string {
	t.Helper()
	run := summaryOf(t, sampleRecords())
	var b bytes.Buffer
	v, err := NewVerification(&b, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range items {
		v.Item(item)
	}
	if err := v.Close(soundSource, &run, sum, problem); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestVerificationsAreAsPublished(t *testing.T) {
	document, line := publishedPayload(t, "verify.v1.json", ""), publishedPayload(t, "verify.v1.json", "#/$defs/line")
	items, sum := everyProof(tricks...)
	for _, list := range [][]reconcile.Verified{items, nil} {
		for _, problem := range []error{nil, errors.New("connection reset")} {
			validate(t, document, verifiedText(t, sampleOptions(FormatJSON, 80, true), list, sum, problem))
			validate(t, document, verifiedText(t, sampleOptions(FormatJSON, 0, false), list, sum, problem))
			lines := strings.Split(strings.TrimSuffix(verifiedText(t, sampleOptions(FormatNDJSON, 0, false), list, sum, problem), "\n"), "\n")
			if len(lines) != len(list)+1 {
				t.Fatalf("%d lines for %d items", len(lines), len(list))
			}
			for _, l := range lines {
				validate(t, line, l)
			}
		}
	}
}

func TestVerificationNamesTheWorstFirstAndCountsTheRest(t *testing.T) {
	items, sum := everyProof("a")
	o := sampleOptions(FormatTable, 100, true)
	o.Limit = 3
	text := verifiedText(t, o, items, sum, nil)
	for _, want := range []string{"! applied-twice", "? waiting", "= back", "+ applied-once", "idemctl journal resume", "more like these"} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	_, exceptions, _ := strings.Cut(text, "applied-once")
	if n := strings.Count(exceptions, "a/a"); n != 3 {
		t.Errorf("%d items are named, want the 3 worst:\n%s", n, exceptions)
	}
	if strings.Contains(exceptions, "applied-once: ") || !strings.Contains(exceptions, "applied-twice: ") {
		t.Errorf("what is named is not the worst:\n%s", exceptions)
	}
	if text := verifiedText(t, o, nil, reconcile.Verification{}, errors.New("connection reset")); !strings.Contains(text, "Incomplete: connection reset.") {
		t.Error("nothing says that it is incomplete:", text)
	}
}

// The first thing seen must not say that all is well where the exit code does not.
func TestVerificationIsHeadedByTheSignOfItsExitCode(t *testing.T) {
	of := func(proofs ...reconcile.Proof) reconcile.Verification {
		sum := reconcile.Verification{ByProof: map[reconcile.Proof]int{}, Items: len(proofs)}
		for _, p := range proofs {
			sum.ByProof[p]++
		}
		return sum
	}
	whole := journal.Summary{Run: journal.Run{ID: sampleRun}, Ended: sampleNow, Done: 2}
	cut := whole
	cut.NotBegun = 3
	damaged := soundSource
	damaged.Problems = []string{"line 3 is no record"}
	for _, tt := range []struct {
		name    string
		source  JournalSource
		run     journal.Summary
		sum     reconcile.Verification
		problem error
		sign    string
	}{
		{"all is done", soundSource, whole, of(reconcile.ProofApplied, reconcile.ProofDeleted), nil, "✓ "},
		{"one failed again", soundSource, whole, of(reconcile.ProofApplied, reconcile.ProofFailed), nil, "✗ "},
		{"one waits", soundSource, whole, of(reconcile.ProofApplied, reconcile.ProofWaiting), nil, "? "},
		{"one waits and one failed", soundSource, whole, of(reconcile.ProofFailed, reconcile.ProofWaiting), nil, "✗ "},
		{"not all was looked at", soundSource, whole, of(reconcile.ProofFailed), errors.New("connection reset"), "? "},
		{"the journal is damaged", damaged, whole, of(reconcile.ProofApplied), nil, "? "},
		{"some were never begun", soundSource, cut, of(reconcile.ProofApplied), nil, "! "},
	} {
		var b bytes.Buffer
		v, err := NewVerification(&b, sampleOptions(FormatTable, 80, true))
		if err == nil {
			err = v.Close(tt.source, &tt.run, tt.sum, tt.problem)
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(b.String(), tt.sign+"Run ") {
			t.Errorf("%s: want %q before\n%s", tt.name, tt.sign, b.String())
		}
	}
}

func TestVerificationObeysNoHostileText(t *testing.T) {
	items, sum := everyProof(tricks...)
	for _, format := range []Format{FormatTable, FormatJSON, FormatNDJSON} {
		for _, tty := range []bool{false, true} {
			o := sampleOptions(format, 60, tty)
			o.Limit = -1
			unseen(t, verifiedText(t, o, items, sum, errors.New(tricks[0])))
		}
	}
}

// openIntents are one of each that a resumption can have.
func openIntents(text string) reconcile.Resumption {
	intent := func(change journal.Change, o journal.Outcome, again bool) reconcile.OpenIntent {
		return reconcile.OpenIntent{
			Record: journal.Record{
				Run: sampleRun, Item: "1", Change: change, At: before(time.Hour), Operator: text, Host: text,
				Queue: text, TaskID: text,
			},
			Outcome: o, Found: text, Again: again, Command: text,
		}
	}
	lock := intent(journal.ChangeReleaseLock, journal.OutcomeRefused, false)
	lock.Record.Target, lock.Record.TaskID = text, ""
	task := inspect.Task{Ref: inspect.Ref{Queue: text, ID: text}, Type: text, State: inspect.StateArchived}
	return reconcile.Resumption{
		Intents: []reconcile.OpenIntent{
			intent(journal.ChangeRequeue, journal.OutcomeDone, false), intent(journal.ChangeResolve, journal.OutcomeRefused, true),
			intent("of-a-later-version", journal.OutcomeUnknown, false), lock,
		},
		Plans: []reconcile.Plan{{
			Moves: &reconcile.Moves{Action: reconcile.ActionResolve},
			Steps: []reconcile.Step{{Change: journal.ChangeResolve, Finding: reconcile.Finding{Code: reconcile.CodeAppliedArchived, Task: task}}},
		}},
	}
}

func resumedText(t testing.TB, o Options, r reconcile.Resumption, done *Carried) string {
	t.Helper()
	var b bytes.Buffer
	s, err := NewResumption(&b, o, &r)
	if err == nil {
		if done != nil {
			s.LeaveBehind([]journal.Summary{cutBy(done.Journal)})
		}
		err = s.Plan()
	}
	if done != nil && len(r.Plans) > 0 {
		s.Applied(reconcile.Applied{Step: r.Plans[0].Steps[0], Outcome: journal.OutcomeDone, Found: r.Intents[0].Found})
	}
	if err == nil {
		err = s.Close(done, []string{sampleRun})
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// cutBy is a run that was cut short, with a text wherever it may have one.
func cutBy(text string) journal.Summary {
	return journal.Summary{
		Run: journal.Run{ID: sampleRun, Command: text, Context: text, Server: text, Planned: 1000}, Ended: sampleNow,
		Done: 412, NotBegun: 588, EndedBy: text,
	}
}

func TestResumptionsAreAsPublishedAndObeyNoHostileText(t *testing.T) {
	document, line := publishedPayload(t, "resume.v1.json", ""), publishedPayload(t, "resume.v1.json", "#/$defs/line")
	for _, trick := range append([]string{"plain"}, tricks...) {
		for _, r := range []reconcile.Resumption{openIntents(trick), {}} {
			for _, done := range []*Carried{nil, {Journal: trick, Run: sampleRun}, {Journal: trick, Problem: errors.New(trick)}} {
				for _, tty := range []bool{false, true} {
					validate(t, document, resumedText(t, sampleOptions(FormatJSON, 80, tty), r, done))
					o := sampleOptions(FormatTable, 60, tty)
					o.Limit = -1
					unseen(t, resumedText(t, o, r, done))
				}
				for l := range strings.Lines(resumedText(t, sampleOptions(FormatNDJSON, 0, false), r, done)) {
					validate(t, line, l)
				}
			}
		}
	}
}

func TestResumptionThatIsOnlyLookedAtSaysWhichRunsWouldGetAnEnd(t *testing.T) {
	var b bytes.Buffer
	s, err := NewResumption(&b, sampleOptions(FormatTable, 80, true), &reconcile.Resumption{})
	if err != nil {
		t.Fatal(err)
	}
	s.WouldEnd([]string{"20260701T011209Z-1f0c3a9b7e", "20260701T021209Z-1f0c3a9b7f"})
	if err := errors.Join(s.Plan(), s.Close(nil, nil)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2 runs have nothing open and no end yet: resume gives them one.", "  20260701T021209Z-1f0c3a9b7f", "Nothing was changed."} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
}

func TestResumptionNamesFirstWhatNeedsSomething(t *testing.T) {
	text := resumedText(t, sampleOptions(FormatTable, 100, true), openIntents("x"), &Carried{Journal: "j", Run: sampleRun})
	left, again, done := strings.Index(text, "left as it is: x"), strings.Index(text, "resolve"), strings.Index(text, "  done: x")
	if left < 0 || again < left || done < again {
		t.Errorf("left at %d, again at %d, done at %d:\n%s", left, again, done, text)
	}
	for _, want := range []string{
		"4 intents have no known outcome.", "1 settled as done, 1 settled as not done, 1 taken up again, 1 left as they are",
		"Changes: 1 done.", "1 run has its end now.",
		"1,000 planned; 412 done; 588 never begun (j)", "nothing resumes it", "idemctl --context=j j",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}
