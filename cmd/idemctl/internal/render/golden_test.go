package render

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idemctl/idemctl/reconcile"
)

var update = flag.Bool("update", false, "write the golden files anew; look at every one before it is kept")

// golden compares output with testdata/name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test -update writes it anew)\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

// faces are the ways in which results are looked at.
var faces = []struct {
	name   string
	format Format
	width  int
	tty    bool
	color  bool
}{
	{"terminal-80.txt", FormatTable, 80, true, false},
	{"terminal-160.txt", FormatTable, 160, true, false},
	{"terminal-80-color.txt", FormatTable, 80, true, true},
	{"pipe.tsv", FormatTable, 0, false, false},
	{"wide-terminal.txt", FormatWide, 160, true, false},
	{"wide-pipe.tsv", FormatWide, 0, false, false},
	{"terminal.json", FormatJSON, 80, true, false},
	{"pipe.json", FormatJSON, 0, false, false},
	{"stream.ndjson", FormatNDJSON, 0, false, false},
	{"sheet.csv", FormatCSV, 0, false, false},
	{"page.md", FormatMarkdown, 0, false, false},
	{"names.txt", FormatName, 0, false, false},
}

func TestAuditKeepsItsFaces(t *testing.T) {
	for _, face := range faces {
		t.Run(face.name, func(t *testing.T) {
			o := sampleOptions(face.format, face.width, face.tty)
			o.Color = face.color
			o.Redact = []string{"$.card.number"}
			golden(t, "audit-"+face.name, audited(t, o, sampleReport(t), sampleFindings()...))
		})
	}
}

func TestAuditOfNothingReassures(t *testing.T) {
	for _, face := range faces {
		t.Run(face.name, func(t *testing.T) {
			o := sampleOptions(face.format, face.width, face.tty)
			o.Color = face.color
			golden(t, "empty-"+face.name, audited(t, o, emptyReport()))
		})
	}
}

func TestInterruptedAuditIsMarked(t *testing.T) {
	for _, face := range faces {
		t.Run(face.name, func(t *testing.T) {
			o := sampleOptions(face.format, face.width, face.tty)
			o.Color = face.color
			golden(t, "interrupted-"+face.name, audited(t, o, interrupted(t), sampleFindings()[:2]...))
		})
	}
}

func TestTasksKeepTheirFaces(t *testing.T) {
	for _, face := range faces {
		t.Run(face.name, func(t *testing.T) {
			o := sampleOptions(face.format, face.width, face.tty)
			o.Color = face.color
			o.Redact = []string{"$.card.number"}
			golden(t, "tasks-"+face.name, listed(t, o, taskReport(t), sampleTasks(t)...))
		})
	}
}

func TestDossierKeepsItsFaces(t *testing.T) {
	for _, face := range faces {
		if face.format == FormatCSV || face.format == FormatMarkdown || face.format == FormatName || face.format == FormatWide {
			continue
		}
		t.Run(face.name, func(t *testing.T) {
			o := sampleOptions(face.format, face.width, face.tty)
			o.Color = face.color
			o.Redact = []string{"card.number", "headers.authorization"}
			golden(t, "dossier-"+strings.Replace(face.name, ".tsv", ".txt", 1), explained(t, o, sampleDossier(t)))
		})
	}
}

// hostileFindings hold every trick of hostile.go in every field that comes from
// outside.
func hostileFindings() []reconcile.Finding {
	var findings []reconcile.Finding
	for _, text := range tricks {
		f := sampleFindings()[1]
		f.Task.Queue, f.Task.ID, f.Task.Type = text, text, text
		f.Task.LastErr, f.Task.Group, f.Key, f.Detail = text, text, text, text
		f.Task.Payload = []byte(text)
		f.Lock = &reconcile.Lock{Key: text, Owner: text, TTL: 1, State: reconcile.LockTaken}
		findings = append(findings, f)
		g := f
		g.Code, g.Severity = reconcile.CodeKeyCollision, reconcile.SeverityHigh
		g.Tasks, g.TaskCount = append(g.Tasks, g.Task.Ref, g.Task.Ref), 7
		findings = append(findings, g)
		h := f
		h.Code, h.Severity = reconcile.CodeEntryOnly, reconcile.SeverityHigh
		h.Task.Queue, h.Task.ID, h.Queues = "", "", []string{text, text}
		findings = append(findings, h)
	}
	return findings
}

// hostileReport names the tricks in every field of a report.
func hostileReport(t testing.TB) reconcile.Report {
	r := sampleReport(t)
	r.Queues, r.Scope.Types, r.Scope.IDs = tricks, tricks, tricks
	for _, text := range tricks {
		r.Signatures = append(r.Signatures, reconcile.Signature{
			Type: text, Text: text, Count: 1, Severity: reconcile.SeverityHigh, Codes: map[reconcile.Code]int{reconcile.CodeLost: 1},
		})
	}
	r.Signatures = r.Signatures[3:]
	source := sampleMark()
	source.Table, source.Column, source.Ledger = tricks[0], tricks[1], tricks[2]
	r.Rules = append(r.Rules, reconcile.RuleUse{
		Rule:  bind(t, 3, reconcile.Rule{Type: "x\x1b*", Queue: "y\r\n"}),
		Tasks: 1, Sources: []reconcile.SourceFacts{source},
	})
	return r
}
