package render

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"

	"github.com/idemctl/idemctl/reconcile"
)

// tricks are texts that mean more than they show: to a terminal, a reader, a
// spreadsheet, a shell or Markdown.
var tricks = []string{
	"\x1b[2J\x1b[31mgone\x1b[0m",
	"\x1b]0;title\x07\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\",
	"\u009b31mC1 control",
	"line one\nline two\ttab\rover",
	"abc\u202edef\u2066ghi\u2069",
	"zero\u200bwidth\u200d\u2060\ufeff\u00ad\u061c",
	"bad \xff\xfe utf-8 \xc3(",
	"日本語のタスク識別子は幅が二倍です",
	"e\u0301te\u0301 z\u0351\u0352\u0353\u0354\u0355\u0356\u0357\u0358algo",
	"👨‍👩‍👧‍👦 family 🏽 🇩🇪🇫 ❤️ 1️⃣",
	"=cmd|' /C calc'!A0",
	"+1+1", "-2", "@SUM(A1)", "＝1+1", "  =1",
	"a|b`c\\|d``e",
	"<script>alert(1)</script> &amp; <img src=x>",
	"![x](http://evil.example) [a](javascript:b) @everyone #1 www.evil.example",
	"$(rm -rf ~) `id` ; '\"\\ *",
	"two  spaces and one behind ",
	"",
	"\x00\x01\x7f\u0085\u2028\u2029\U000e0041\ue000\u0378",
	"\u0301starts with a mark",
	"กำ ำ ﾞﾟ \u0600\u0d4e",
	strings.Repeat("long", 100),
	strings.Repeat("長い", 60),
	"# a comment",
}

// unseen says whether text holds a character that no human output may hold. Our
// own colours are no part of the text.
func unseen(t *testing.T, text string) {
	t.Helper()
	for i, r := range text {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				t.Fatalf("a byte that is not UTF-8 in %q", around(text, i))
			}
		}
		if r == '\n' || r == '\t' {
			continue
		}
		if r < ' ' || r == 0x7f || r >= 0x80 && r <= 0x9f || r >= utf8.RuneSelf && !shows(r) && !extends(r) {
			t.Fatalf("unseen character %U in %q", r, around(text, i))
		}
	}
}

func around(s string, i int) string { return s[max(0, i-40):min(len(s), i+40)] }

func TestHostileTextReachesNoTerminal(t *testing.T) {
	for _, f := range Formats() {
		for _, tty := range []bool{true, false} {
			o := sampleOptions(f, 80, tty)
			o.ShowPayload = true
			unseen(t, audited(t, o, hostileReport(t), hostileFindings()...))
			unseen(t, listed(t, o, hostileReport(t), hostileTasks(t)...))
		}
	}
	for _, j := range hostileTasks(t) {
		d := sampleDossier(t)
		d.Task, d.Key, d.KeyProblem, d.Next = j.Task, j.Key, j.Key, j.Key
		d.Task.Headers = map[string]string{j.Key: j.Key}
		unseen(t, explained(t, sampleOptions(FormatTable, 80, true), d))
		unseen(t, explained(t, sampleOptions(FormatJSON, 80, false), d))
	}
}

func TestReportFitsTheTerminal(t *testing.T) {
	for _, cells := range []int{40, 57, 80, 119, 120, 160} {
		o := sampleOptions(FormatTable, cells, true)
		o.ShowPayload = true
		o.Limit = 1000
		fits(t, cells, audited(t, o, hostileReport(t), append(hostileFindings(), sampleFindings()...)...))
		fits(t, cells, listed(t, o, hostileReport(t), append(hostileTasks(t), sampleTasks(t)...)...))
		fits(t, cells, explained(t, o, sampleDossier(t)))
		for _, j := range hostileTasks(t) {
			d := sampleDossier(t)
			d.Task, d.Key, d.KeyProblem, d.Next, d.Lock.Key = j.Task, j.Key, j.Key, j.Key, j.Key
			fits(t, cells, explained(t, o, d))
		}
	}
}

func fits(t *testing.T, cells int, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if w := displaywidth.String(strings.TrimRight(line, "\n")); w > cells {
			t.Errorf("%d cells on a terminal of %d: %q", w, cells, line)
		}
	}
}

// A text of many pages must neither be printed whole nor take time that grows
// with the square of it.
func TestEndlessTextEnds(t *testing.T) {
	endless := strings.Repeat("a'\x1b本 ", 1<<15)
	f := sampleFindings()[1]
	f.Task.Queue, f.Task.ID, f.Task.Type, f.Task.LastErr, f.Key = endless, endless, endless, endless, endless
	f.Code = reconcile.CodeKeyCollision
	o := sampleOptions(FormatTable, 80, true)
	r := sampleReport(t)
	r.Queues, r.Signatures[0].Text, r.Signatures[0].Example = []string{endless}, endless, f.Task.Ref
	d := sampleDossier(t)
	d.Task, d.Key, d.Next, d.Task.Payload = f.Task, endless, endless, []byte(endless)
	for _, out := range []string{
		audited(t, o, r, f),
		listed(t, o, r, reconcile.Judged{Task: f.Task, Key: f.Key}),
		explained(t, o, d),
	} {
		fits(t, 80, out)
		if n := strings.Count(out, "\n"); n > 1200 {
			t.Errorf("%d lines", n)
		}
	}
}

func TestPipeKeepsItsColumns(t *testing.T) {
	for _, f := range []Format{FormatTable, FormatWide} {
		out := audited(t, sampleOptions(f, 0, false), hostileReport(t), hostileFindings()...)
		columns := len(chosen(findingFields, f == FormatWide))
		rows := 0
		for line := range strings.Lines(out) {
			if strings.HasPrefix(line, "# ") {
				continue
			}
			rows++
			if n := strings.Count(line, "\t") + 1; n != columns {
				t.Errorf("%d columns, not %d: %q", n, columns, line)
			}
		}
		if want := len(hostileFindings()) + 1; rows != want {
			t.Errorf("%d lines, not %d", rows, want)
		}
	}
}

func TestSheetRunsNothing(t *testing.T) {
	out := audited(t, sampleOptions(FormatCSV, 0, false), hostileReport(t), hostileFindings()...)
	records, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != len(hostileFindings())+1 {
		t.Fatalf("%d records", len(records))
	}
	for _, record := range records {
		for _, cell := range record {
			if runs(cell) {
				t.Errorf("a spreadsheet would run %q", cell)
			}
		}
	}
}

// runs says whether a spreadsheet takes the cell for a formula.
func runs(cell string) bool {
	for _, r := range strings.TrimLeft(cell, " \t\r\n") {
		return strings.ContainsRune("=+-@＝＋－＠", r)
	}
	return false
}

func FuzzSheetCell(f *testing.F) {
	for _, s := range tricks {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		line := string(csvRecord([]string{guardFormula(Visible(s)), "end"}))
		record, err := csv.NewReader(strings.NewReader(line)).Read()
		if err != nil || len(record) != 2 || record[1] != "end" {
			t.Fatalf("%q became %q: %v", s, record, err)
		}
		if runs(record[0]) {
			t.Fatalf("a spreadsheet would run %q", record[0])
		}
		if strings.TrimPrefix(record[0], "'") != strings.TrimPrefix(Visible(s), "'") {
			t.Fatalf("%q is no longer readable as %q", Visible(s), record[0])
		}
	})
}

func FuzzMarkdownCell(f *testing.F) {
	for _, s := range tricks {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, cell := range []string{code(s), prose(s)} {
			unseen(t, cell)
			if strings.ContainsAny(cell, "|\n") {
				t.Fatalf("%q leaves its cell: %q", s, cell)
			}
			if ticks := strings.Count(cell, "`"); ticks != 0 && (ticks != 2 || cell[0] != '`' || cell[len(cell)-1] != '`') {
				t.Fatalf("%q leaves its code: %q", s, cell)
			}
		}
		bare := strings.NewReplacer("<code>&#64;</code>", "", "<code>&#35;</code>", "").Replace(prose(s))
		bare = regexp.MustCompile(`&#[0-9]+;`).ReplaceAllString(bare, "")
		if strings.ContainsAny(bare, "<>[]*_~@#\\!$&`") || strings.Contains(bare, "://") {
			t.Fatalf("%q means something to Markdown: %q", s, bare)
		}
	})
}

func TestDocumentKeepsHostileValues(t *testing.T) {
	o := sampleOptions(FormatJSON, 0, false)
	o.ShowPayload = true
	out := audited(t, o, hostileReport(t), hostileFindings()...)
	var doc auditDocumentJSON
	dec := json.NewDecoder(strings.NewReader(out))
	if err := dec.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		t.Fatalf("more after the document: %v", err)
	}
	seen := map[string]bool{}
	for _, f := range doc.Findings {
		seen[word(f.LastError)] = true
		if id := word(f.TaskID); strings.ContainsRune(id, utf8.RuneError) && f.TaskIDHex == nil {
			t.Errorf("the ID %q lost its bytes", id)
		}
	}
	for _, s := range tricks {
		if utf8.ValidString(s) && !seen[s] {
			t.Errorf("%q is not among the last errors", s)
		}
	}
}
