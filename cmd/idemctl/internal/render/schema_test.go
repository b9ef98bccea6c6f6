package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

const schemaPath = "../../../../docs/schema/audit.v1.json"

// published is the schema that scripts rely on, or a part of it.
func published(t testing.TB, fragment string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	s, err := c.Compile(schemaPath + fragment)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t testing.TB, s *jsonschema.Schema, text string) {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if err := s.Validate(value); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}

// nights are reports with findings of every kind, of none, and of the worst.
func nights(t testing.TB) map[string]struct {
	report   reconcile.Report
	findings []reconcile.Finding
} {
	type night = struct {
		report   reconcile.Report
		findings []reconcile.Finding
	}
	lost := interrupted(t)
	lost.Problem = &reconcile.LedgerError{Kind: reconcile.LedgerUnreachable, Ledger: "main", Err: errors.New("connection refused")}
	timedOut := interrupted(t)
	timedOut.Problem = fmt.Errorf("listing: %w", os.ErrDeadlineExceeded)
	return map[string]night{
		"bad":         {sampleReport(t), sampleFindings()},
		"empty":       {emptyReport(), nil},
		"bare":        {reconcile.Report{}, nil},
		"interrupted": {interrupted(t), sampleFindings()[:1]},
		"lost":        {lost, nil},
		"timed out":   {timedOut, nil},
		"hostile":     {hostileReport(t), hostileFindings()},
		"every code":  {sampleReport(t), everyCode()},
	}
}

// everyCode has a finding of each code with as few facts as it can have.
func everyCode() []reconcile.Finding {
	var findings []reconcile.Finding
	for _, c := range reconcile.Codes() {
		f := reconcile.Finding{Code: c, Severity: c.Severity()}
		f.Task.Type = "x"
		if c.Family() != "coverage" {
			f.Task.Ref = inspect.Ref{Queue: "q", ID: "i"}
			f.Task.Defect = inspect.DefectDangling
			f.Lock = &reconcile.Lock{Key: "k"}
		}
		findings = append(findings, f)
	}
	return findings
}

func TestDocumentsAreAsPublished(t *testing.T) {
	s := published(t, "")
	for name, n := range nights(t) {
		t.Run(name, func(t *testing.T) {
			for _, tty := range []bool{false, true} {
				o := sampleOptions(FormatJSON, 80, tty)
				o.ShowPayload = true
				validate(t, s, audited(t, o, n.report, n.findings...))
			}
		})
	}
	var b bytes.Buffer
	if err := NewAudit(&b, sampleOptions(FormatJSON, 80, false)).Close(emptyReport(), Header{Ledgers: []Ledger{{Name: "down"}}, Where: "retried > 3"}); err != nil {
		t.Fatal(err)
	}
	validate(t, s, b.String())
}

func TestStreamsAreAsPublished(t *testing.T) {
	line := published(t, "#/$defs/line")
	for name, n := range nights(t) {
		t.Run(name, func(t *testing.T) {
			out := audited(t, sampleOptions(FormatNDJSON, 0, false), n.report, n.findings...)
			lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
			if len(lines) != len(n.findings)+1 {
				t.Fatalf("%d lines", len(lines))
			}
			for i, l := range lines {
				validate(t, line, l)
				if last := i == len(lines)-1; strings.HasPrefix(l, `{"schema":"idemctl.audit/v1","summary":true,`) != last {
					t.Errorf("line %d: %s", i, l)
				}
			}
		})
	}
}

func TestStreamIsInOrderOfDiscoveryAndAtOnce(t *testing.T) {
	var b bytes.Buffer
	a := NewAudit(&b, sampleOptions(FormatNDJSON, 0, false))
	for i, f := range sampleFindings() {
		a.Finding(f)
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		var last findingJSON
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
			t.Fatal(err)
		}
		if len(lines) != i+1 || last.Code != string(f.Code) || word(last.TaskID) != f.Task.ID {
			t.Fatalf("after %d findings: %s", i+1, b.String())
		}
	}
}

func TestSchemaRefusesWhatIsNotInIt(t *testing.T) {
	s := published(t, "")
	out := audited(t, sampleOptions(FormatJSON, 0, false), sampleReport(t), sampleFindings()...)
	for _, change := range [][2]string{
		{`"schema":"idemctl.audit/v1"`, `"schema":"idemctl.audit/v2"`},
		{`"complete":true`, `"complete":true,"more":1`},
		{`"code":"effect/partial"`, `"code":"effect/other"`},
		{`"severity":"critical"`, `"severity":"fatal"`},
		{`"status":"partial"`, `"status":"maybe"`},
		{`"task_id_hex":null,`, ``},
		{`"lock":null`, `"lock":{}`},
		{`"findings":[`, `"findings":null,"was":[`},
		{`"last_failed_at":"2026-07-01T02:41:09Z"`, `"last_failed_at":"2026-07-01 02:41:09"`},
		{`"by_state":{`, `"by_state":{"running":1,`},
		{`"archived":12`, `"archived":0`},
	} {
		changed := strings.Replace(out, change[0], change[1], 1)
		if changed == out {
			t.Errorf("%s is not in the document", change[0])
			continue
		}
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(changed))
		if err != nil {
			t.Fatal(err)
		}
		if s.Validate(value) == nil {
			t.Errorf("accepted: %s", change[1])
		}
	}
}

func TestSchemaKnowsEveryWord(t *testing.T) {
	text, err := os.ReadFile(schemaPath)
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Defs map[string]struct{ Enum []string } `json:"$defs"`
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	words := map[string][]string{}
	for _, c := range reconcile.Codes() {
		words["code"] = append(words["code"], string(c))
	}
	for _, s := range reconcile.Severities() {
		words["severity"] = append(words["severity"], s.String())
	}
	for _, s := range inspect.States() {
		words["state"] = append(words["state"], s.String())
	}
	for _, s := range reconcile.Statuses() {
		words["status"] = append(words["status"], s.String())
	}
	for name, list := range words {
		for _, w := range list {
			if !slices.Contains(schema.Defs[name].Enum, w) {
				t.Errorf("the schema's %s does not know %q", name, w)
			}
		}
	}
}

// The names that scripts were promised first never change.
func TestDocumentHasThePromisedKeys(t *testing.T) {
	out := audited(t, sampleOptions(FormatJSON, 0, false), sampleReport(t), sampleFindings()...)
	var doc map[string]any
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	has := func(where string, object any, keys ...string) {
		t.Helper()
		for _, k := range keys {
			if _, ok := object.(map[string]any)[k]; !ok {
				t.Errorf("%s has no %s", where, k)
			}
		}
	}
	has("the document", doc, "schema", "complete", "started_at", "finished_at", "redis", "ledgers", "scope", "totals", "findings")
	has("redis", doc["redis"], "mode", "addr", "version")
	ledger := doc["ledgers"].([]any)[0].(map[string]any)
	has("a ledger", ledger, "name", "kind", "replica", "sources")
	has("a source", ledger["sources"].([]any)[0], "role", "table", "column", "unique")
	has("the scope", doc["scope"], "queues", "states")
	has("the totals", doc["totals"], "tasks", "by_state", "by_status", "by_code", "by_severity")
	for _, f := range doc["findings"].([]any) {
		has("a finding", f, "code", "severity", "queue", "task_id", "type", "state", "key", "status", "cause", "attribution",
			"retried", "max_retry", "last_error", "last_failed_at", "next_process_at", "applied_at", "lock",
			"message", "consequence", "action")
		if lock := f.(map[string]any)["lock"]; lock != nil {
			has("a lock", lock, "key", "owner", "ttl_seconds", "state")
		}
	}
}

func TestAbsentFactsAreNull(t *testing.T) {
	b := newBase(nil, sampleOptions(FormatJSON, 0, false).filled())
	f := reconcile.Finding{Code: reconcile.CodeUnclassified, Severity: reconcile.SeverityWarning}
	f.Task.Type = "x"
	text, err := marshal(b.shape(&f))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	said := []string{"code", "severity", "type", "message", "consequence", "action", "task_count"}
	for key, value := range got {
		switch list, isList := value.([]any); {
		case slices.Contains(said, key):
		case isList && len(list) == 0:
		case value != nil:
			t.Errorf("%s is %v", key, value)
		}
	}
}

func TestTaskFactsOfZeroAreFacts(t *testing.T) {
	f := reconcile.Finding{Code: reconcile.CodeParked, Severity: reconcile.SeverityInfo}
	f.Task.Ref, f.Task.State = inspect.Ref{Queue: "q", ID: "i"}, inspect.StateArchived
	s := shapeFinding(&f, payloadText{})
	if s.Retried == nil || *s.Retried != 0 || s.LastError != nil || word(s.Status) != "unknown" {
		t.Errorf("%+v", s)
	}
	f.Task.LastFailedAt = sampleNow
	if s = shapeFinding(&f, payloadText{}); s.LastError == nil || *s.LastError != "" {
		t.Errorf("an error without text is %v", s.LastError)
	}
}

func TestEveryFieldOfTheContractIsNamed(t *testing.T) {
	for _, v := range []any{auditDocumentJSON{}, tasksDocumentJSON{}, dossierJSON{}} {
		named := map[reflect.Type]bool{}
		checkNames(t, reflect.TypeOf(v), named)
	}
}

func checkNames(t *testing.T, typ reflect.Type, seen map[reflect.Type]bool) {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct || seen[typ] {
		return
	}
	seen[typ] = true
	for i := range typ.NumField() {
		f := typ.Field(i)
		if tag := f.Tag.Get("json"); !f.Anonymous && (tag == "" || strings.ToLower(tag) != tag) {
			t.Errorf("%s.%s is written as %q", typ, f.Name, tag)
		}
		checkNames(t, f.Type, seen)
	}
}

func TestLimitSaysWhatItLeavesOut(t *testing.T) {
	for _, f := range []Format{FormatJSON, FormatNDJSON} {
		o := sampleOptions(f, 0, false)
		o.Limit = 3
		out := audited(t, o, sampleReport(t), sampleFindings()...)
		if n := strings.Count(out, `"code":"`); n != 3 || !strings.Contains(out, `"omitted":7`) || !strings.Contains(out, `"findings":10`) {
			t.Errorf("%s: %d findings: %s", f, n, out)
		}
	}
}
