package render

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// flood is a thousand tasks that are half applied, and one of each other sample.
func flood(t testing.TB) (reconcile.Report, []reconcile.Finding) {
	t.Helper()
	r, findings := sampleReport(t), sampleFindings()
	for i := range 1000 {
		f := sampleFindings()[4]
		f.Task.ID = fmt.Sprintf("half-%04d", i)
		findings = append(findings, f)
		r.Totals.ByCode[f.Code]++
		r.Totals.BySeverity[f.Severity]++
	}
	return r, findings
}

func TestFloodOfOneCodeHidesNoOther(t *testing.T) {
	r, findings := flood(t)
	out := audited(t, sampleOptions(FormatTable, 80, true), r, findings...)
	for code := range r.Totals.ByCode {
		if !strings.Contains(out, string(code)) {
			t.Errorf("%s is not shown", code)
		}
	}
	if n := strings.Count(out, "→ idemctl"); n != defaultLimit+1 {
		t.Errorf("%d commands, not %d and the next step", n, defaultLimit)
	}
	if !strings.Contains(out, "11 of 1,001 findings") || !strings.Contains(out, "990 findings are not shown") ||
		!strings.Contains(out, "✗ 1,001 tasks are half applied") {
		t.Errorf("the numbers are not told:\n%s", out)
	}
}

func TestLimitOfReport(t *testing.T) {
	r, findings := flood(t)
	for limit, want := range map[int]int{1: 1, 5: 5, 50: 50, -1: 1010, 5000: 1010} {
		o := sampleOptions(FormatTable, 80, true)
		o.Limit = limit
		out := audited(t, o, r, findings...)
		if n := strings.Count(out, "→ idemctl") - 1; n != want {
			t.Errorf("--limit %d shows %d findings, not %d", limit, n, want)
		}
		if hidden := strings.Contains(out, "not shown"); hidden != (want < 1010) {
			t.Errorf("--limit %d says that some are not shown: %v", limit, hidden)
		}
	}
}

func TestReportShowsTheFirstOfEachCode(t *testing.T) {
	r, findings := flood(t)
	slices.Reverse(findings)
	out := audited(t, sampleOptions(FormatTable, 80, true), r, findings...)
	if !strings.Contains(out, "half-0000") || strings.Contains(out, "half-0999") {
		t.Error("the findings shown depend on the order of discovery")
	}
}

func TestSortedReportMixesCodes(t *testing.T) {
	o := sampleOptions(FormatTable, 80, true)
	o.Sort, o.Limit = "failed", 2
	out := audited(t, o, sampleReport(t), sampleFindings()...)
	_, out, _ = strings.Cut(out, "FINDINGS")
	first, second := strings.Index(out, idRefund), strings.Index(out, "inv-2026-07-01-0001")
	if first < 0 || second < first || strings.Contains(out, idCharge1) {
		t.Errorf("%s", out)
	}
}

func TestNextStepIsForTheWorst(t *testing.T) {
	out := audited(t, sampleOptions(FormatTable, 80, true), sampleReport(t), sampleFindings()...)
	if !strings.HasSuffix(out, "NEXT  effect/partial\n  → idemctl explain default "+idCharge3+"\n") {
		t.Errorf("ends in %q", out[max(0, len(out)-200):])
	}
	quiet := reconcile.Finding{Code: reconcile.CodeParked, Severity: reconcile.SeverityInfo, Task: sampleFindings()[1].Task}
	r := emptyReport()
	r.Totals = reconcile.Totals{Tasks: 1, ByCode: map[reconcile.Code]int{quiet.Code: 1}, ByStatus: map[reconcile.Status]int{reconcile.StatusNotApplied: 1}}
	if out := audited(t, sampleOptions(FormatTable, 80, true), r, quiet); strings.Contains(out, "NEXT") {
		t.Errorf("a note asks for a step:\n%s", out)
	}
}

func TestNewFindingsAreMarked(t *testing.T) {
	o := sampleOptions(FormatTable, 80, true)
	o.IsNew = func(f *reconcile.Finding) bool { return f.Task.ID == idCharge2 }
	out := audited(t, o, sampleReport(t), sampleFindings()...)
	if strings.Count(out, "NEW · ") != 1 || !strings.Contains(out, "NEW · default/"+idCharge2) {
		t.Errorf("%s", out)
	}
}

func TestNoHeadersLeavesOutTitles(t *testing.T) {
	o := sampleOptions(FormatTable, 0, false)
	o.NoHeaders = true
	out := audited(t, o, sampleReport(t), sampleFindings()...)
	if n := strings.Count(out, "\n"); n != len(sampleFindings()) || strings.Contains(out, "#") && strings.HasPrefix(out, "#") {
		t.Errorf("%d lines: %s", n, out)
	}
	out = audited(t, o, interrupted(t))
	if !strings.HasPrefix(out, "# INCOMPLETE (interrupted)") || strings.Count(out, "\n") != 1 {
		t.Errorf("%q", out)
	}
}

func TestColorIsForTerminalsOnly(t *testing.T) {
	for _, f := range Formats() {
		for _, tty := range []bool{true, false} {
			o := sampleOptions(f, 80, tty)
			o.Color = true
			out := audited(t, o, sampleReport(t), sampleFindings()...) + listed(t, o, sampleReport(t), sampleTasks(t)...)
			human := tty && (f == FormatTable || f == FormatWide)
			if colored := strings.Contains(out, "\x1b["); colored != human {
				t.Errorf("%s (terminal: %v) is coloured: %v", f, tty, colored)
			}
		}
	}
}

func TestColorChangesNoText(t *testing.T) {
	o := sampleOptions(FormatTable, 80, true)
	plain := audited(t, o, sampleReport(t), sampleFindings()...)
	o.Color = true
	if got := stripped(audited(t, o, sampleReport(t), sampleFindings()...)); got != plain {
		t.Errorf("without its colours:\n%s", got)
	}
}

func stripped(s string) string {
	for {
		start := strings.Index(s, "\x1b[")
		if start < 0 {
			return s
		}
		s = s[:start] + s[start+strings.IndexByte(s[start:], 'm')+1:]
	}
}

// broken takes n bytes and fails.
type broken struct{ n int }

var errBroken = errors.New("broken pipe")

func (b *broken) Write(p []byte) (int, error) {
	if b.n -= len(p); b.n < 0 {
		return 0, errBroken
	}
	return len(p), nil
}

func TestFailedWriteIsReported(t *testing.T) {
	for _, f := range Formats() {
		for _, tty := range []bool{true, false} {
			a := NewAudit(&broken{100}, sampleOptions(f, 80, tty))
			l := NewTasks(&broken{100}, sampleOptions(f, 80, tty))
			for _, finding := range sampleFindings() {
				a.Finding(finding)
			}
			for _, j := range sampleTasks(t) {
				l.Judged(j)
			}
			if err := a.Close(sampleReport(t), sampleHeader()); !errors.Is(err, errBroken) {
				t.Errorf("findings as %s (terminal: %v): %v", f, tty, err)
			}
			if err := l.Close(sampleReport(t), sampleHeader()); !errors.Is(err, errBroken) {
				t.Errorf("tasks as %s (terminal: %v): %v", f, tty, err)
			}
		}
	}
}

func TestDiscardedAuditWritesNothing(t *testing.T) {
	for _, f := range Formats() {
		if f == FormatNDJSON {
			continue // has written its findings by then
		}
		a := NewAudit(&broken{0}, sampleOptions(f, 80, true))
		for _, finding := range sampleFindings() {
			a.Finding(finding)
		}
		if err := errors.Join(a.Err(), a.Discard(), a.Discard()); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
}

func TestTasksAreListedAsTheyCome(t *testing.T) {
	for _, f := range []Format{FormatTable, FormatWide, FormatNDJSON, FormatCSV, FormatMarkdown, FormatName} {
		var b strings.Builder
		l := NewTasks(&b, sampleOptions(f, 0, false))
		for i, j := range sampleTasks(t) {
			before := b.Len()
			l.Judged(j)
			if b.Len() == before {
				t.Errorf("%s: nothing is written for task %d", f, i)
			}
		}
	}
}

func TestSortedTasksWaitForTheLast(t *testing.T) {
	for _, f := range Formats() {
		for _, tty := range []bool{true, false} {
			if f == FormatNDJSON {
				continue // always in the order in which tasks are read
			}
			o := sampleOptions(f, 160, tty)
			o.Sort, o.Limit = "-id", 3
			out := listed(t, o, sampleReport(t), sampleTasks(t)...)
			first, second, third := strings.Index(out, "sub-1"), strings.Index(out, "report-weekly"), strings.Index(out, "nightly")
			if first < 0 || second < first || third < second || strings.Contains(out, "inv-2026") {
				t.Errorf("%s (terminal: %v): %s", f, tty, out)
			}
		}
	}
}

func TestLongListKeepsWholeIDs(t *testing.T) {
	var tasks []reconcile.Judged
	for i := range 3 * taskChunk {
		j := sampleTasks(t)[0]
		j.Task.ID = fmt.Sprintf("t-%d", i)
		if i > 2*taskChunk {
			j.Task.ID += "-with-a-much-longer-name"
		}
		tasks = append(tasks, j)
	}
	out := listed(t, sampleOptions(FormatTable, 80, true), sampleReport(t), tasks...)
	fits(t, 80, out)
	if n := strings.Count(out, "much-longer-name "); n != taskChunk-1 {
		t.Errorf("%d of %d long IDs are whole", n, taskChunk-1)
	}
	if n := strings.Count(out, "TASK"); n != 2 {
		t.Errorf("%d titles, not one for each set of columns", n)
	}
}

func TestEmptyListSaysSo(t *testing.T) {
	r := emptyReport()
	if out := listed(t, sampleOptions(FormatTable, 80, true), r); out != "No task.\n" {
		t.Errorf("%q", out)
	}
	r.Scope.Types = []string{"x"}
	if out := listed(t, sampleOptions(FormatTable, 80, true), r); out != "No task in this selection.\n" {
		t.Errorf("%q", out)
	}
	if out := listed(t, sampleOptions(FormatJSON, 80, false), r); !strings.Contains(out, `"tasks":[]`) {
		t.Errorf("%q", out)
	}
}

func TestVerdictIsHonest(t *testing.T) {
	report := func(tasks int, change func(*reconcile.Report)) reconcile.Report {
		r := emptyReport()
		r.Totals = reconcile.Totals{
			Tasks: tasks, ByState: map[inspect.State]int{inspect.StateArchived: tasks},
			ByStatus: map[reconcile.Status]int{reconcile.StatusNotApplied: tasks}, ByCode: map[reconcile.Code]int{},
		}
		change(&r)
		return r
	}
	for want, r := range map[string]reconcile.Report{
		"Nothing to do: all 7 tasks agree with the ledger.":                           report(7, func(*reconcile.Report) {}),
		"Nothing to do: the 1 task agrees with the ledger.":                           report(1, func(*reconcile.Report) {}),
		"Nothing to reconcile: there is no queue.":                                    report(0, func(r *reconcile.Report) { r.Queues = nil }),
		"Nothing to reconcile: all 2 queues are empty.":                               report(0, func(r *reconcile.Report) { r.Queues = []string{"a", "b"} }),
		"Nothing to reconcile: no task is in this selection.":                         report(0, func(r *reconcile.Report) { r.Scope.IDs = []string{"x"} }),
		"Nothing to do in this selection: all 7 tasks agree":                          report(7, func(r *reconcile.Report) { r.Scope.Queues = []string{"d*"} }),
		"7 tasks agree with the ledger; of 3 more nobody can say":                     report(10, func(r *reconcile.Report) { r.Totals.ByStatus[reconcile.StatusUnknown] = 3 }),
		"Nothing found, and nothing known: no rule or ledger":                         report(10, func(r *reconcile.Report) { r.Totals.ByStatus[reconcile.StatusUnknown] = 10 }),
		"The structure is sound: 7 tasks were looked at, and not what took effect":    report(7, func(r *reconcile.Report) { r.Aspect = reconcile.AspectStructure }),
		"Nothing refuses new work: 7 tasks were looked at, and what took effect only": report(7, func(r *reconcile.Report) { r.Aspect = reconcile.AspectBlocked }),
		"All 4 archived tasks already took effect: do not":                            report(4, func(r *reconcile.Report) { r.Totals.ByCode[reconcile.CodeAppliedArchived] = 4 }),
		"1 archived task is lost: not applied":                                        report(1, func(r *reconcile.Report) { r.Totals.ByCode[reconcile.CodeLost] = 1 }),
		"1 of 4 archived tasks is lost: not applied":                                  report(4, func(r *reconcile.Report) { r.Totals.ByCode[reconcile.CodeLost] = 1 }),
		"INCOMPLETE (stopped early): 4 tasks were judged.":                            report(4, func(r *reconcile.Report) { r.Complete = false }),
		"Also: 2 lock/unheard-of.":                                                    report(4, func(r *reconcile.Report) { r.Totals.ByCode["lock/unheard-of"] = 2 }),
		"Worth knowing: 3 effect/parked.":                                             report(4, func(r *reconcile.Report) { r.Totals.ByCode[reconcile.CodeParked] = 3 }),
	} {
		var lines []string
		for _, v := range verdictOf(&r) {
			lines = append(lines, shape(v.severity)+" "+v.text)
		}
		if text := strings.Join(lines, "\n"); !strings.Contains(text, want) {
			t.Errorf("%q is not in %q", want, text)
		} else if !r.Complete && strings.Contains(text, "✓") {
			t.Errorf("an incomplete report reassures: %q", text)
		}
	}
}

func TestVerdictSpeaksOfEveryCode(t *testing.T) {
	for _, c := range reconcile.Codes() {
		for _, n := range []int{1, 2} {
			r := emptyReport()
			r.Totals.Tasks = n
			r.Totals.ByCode = map[reconcile.Code]int{c: n}
			lines := verdictOf(&r)
			last := lines[len(lines)-1]
			if !slices.Contains(last.codes, c) || last.severity != c.Severity() || !strings.Contains(last.text, fmt.Sprint(n)) {
				t.Errorf("%d × %s is %+v", n, c, lines)
			}
			if w := width(last.text); w > 78 {
				t.Errorf("%d cells: %s", w, last.text)
			}
			if calm := lines[0].severity == reconcile.SeverityNone; calm != (c.Severity() <= reconcile.SeverityInfo) {
				t.Errorf("%s: %+v", c, lines)
			}
		}
	}
}

func TestSecretsOfProblemsStayVisibleText(t *testing.T) {
	r := interrupted(t)
	r.Problem = errors.New("redis: \x1b[31mboom\nagain")
	out := audited(t, sampleOptions(FormatTable, 80, true), r)
	if !strings.Contains(out, `INCOMPLETE (redis: \x1b[31mboom\nagain)`) {
		t.Errorf("%s", out)
	}
}

func TestTimesReadByPeople(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"now": 0, "now ": 999 * time.Millisecond, "59s ago": 59*time.Second + 999*time.Millisecond, "1m ago": 119 * time.Second,
		"59m ago": time.Hour - 1, "47h ago": 48*time.Hour - 1, "2d ago": 48 * time.Hour, "729d ago": 730*24*time.Hour - 1,
		"2y ago": 730 * 24 * time.Hour, "in 5s": -5 * time.Second, "in 3h": -3*time.Hour - time.Minute,
	} {
		if got := ago(before(d), sampleNow); got != strings.TrimSpace(want) {
			t.Errorf("%v is %q, not %q", d, got, want)
		}
	}
	for want, d := range map[string]time.Duration{
		"0 ms": 0, "999 ms": time.Second - 1, "1.5 s": 1500 * time.Millisecond, "59 s": time.Minute - 1,
		"1 min 05 s": 65 * time.Second, "2 h 03 min": 2*time.Hour + 3*time.Minute,
	} {
		if got := took(d); got != want {
			t.Errorf("%v is %q, not %q", d, got, want)
		}
	}
	for want, n := range map[string]int{"0": 0, "999": 999, "1,000": 1000, "-1,234,567": -1234567, "-123": -123} {
		if got := count(n); got != want {
			t.Errorf("%d is %q, not %q", n, got, want)
		}
	}
	far := time.Date(99999, 1, 1, 0, 0, 0, 0, time.UTC)
	if got := stampOf(far, time.UTC); got != "9999-12-31T23:59:59Z" {
		t.Errorf("%q", got)
	}
}

func TestWordsReplaceKnownTimesOnly(t *testing.T) {
	f := sampleFindings()[2]
	p := newPage(nil, sampleOptions(FormatTable, 80, true).filled())
	f.Key = "evt 2020-01-01T00:00:00Z"
	got := p.humanize(&f, f.Message()+" "+f.Key)
	if want := "its effect is applied (9m ago, by an earlier attempt), and it will be retried in 4m evt 2020-01-01T00:00:00Z"; got != want {
		t.Errorf("%q", got)
	}
}

func TestDossierFacts(t *testing.T) {
	d := sampleDossier(t)
	d.Task.Payload = []byte(`{"a":"` + strings.Repeat("long ", 40) + `","list":[` + strings.Repeat("1,", 60) + `2]}`)
	d.Worker = &inspect.Worker{Server: "w1", StartedAt: before(time.Minute)}
	d.Queue.Paused, d.Served = true, false
	d.Verdict.Status, d.Verdict.Reason = reconcile.StatusUnknown, reconcile.ReasonRetention
	out := explained(t, sampleOptions(FormatTable, 80, true), d)
	fits(t, 80, out)
	for _, want := range []string{
		"default · paused, no live server", "server w1 · began 1m ago", "unknown: its row may have been pruned since",
		"  payload     {\n", `                "list": [`, "more lines; -o json has all",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	for _, f := range []Format{FormatCSV, FormatMarkdown, FormatName} {
		if err := WriteDossier(&broken{}, sampleOptions(f, 80, true), d); err == nil || errors.Is(err, errBroken) {
			t.Errorf("%s: %v", f, err)
		}
	}
}
