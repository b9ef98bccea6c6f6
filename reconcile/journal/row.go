package journal

import (
	"strings"
	"time"
	"unicode/utf8"
)

// Row is an entry as a table of SQL holds it. Record is the whole line; the other
// columns repeat parts of it, to search by. They are nil where the record says
// nothing. What text in SQL cannot hold, NUL and bytes that are not UTF-8, is the
// replacement character in them; Record has it exactly.
type Row struct {
	Run                                                     string
	Seq                                                     int64
	Item                                                    *string
	Kind                                                    string
	At                                                      time.Time
	Operator, Host, Context, Change, Queue, TaskID, Outcome *string
	Record                                                  string
}

// RowColumns are the names of a row's columns, in the order of Row. Run and seq
// together are its key: a number is given once in a file, and a run is named at
// random.
func RowColumns() []string {
	return []string{
		"run", "seq", "item", "kind", "at", "operator", "host", "context", "change", "queue", "task_id", "outcome", "record",
	}
}

// Row is the entry as a table holds it.
func (e *Entry) Row() Row {
	r := Row{
		Run: SQLText(e.Run), Seq: int64(e.Seq), Item: column(e.Item), Kind: e.Kind.String(), At: e.At.UTC(),
		Operator: column(e.Operator), Host: column(e.Host), Context: column(e.Context), Change: column(string(e.Change)),
		Queue: column(e.Queue), TaskID: column(e.TaskID), Record: string(e.Line),
	}
	if e.Kind == KindResult {
		r.Outcome = column(e.Outcome.String())
	}
	return r
}

func column(s string) *string {
	if s == "" {
		return nil
	}
	s = SQLText(s)
	return &s
}

// SQLText is a text as columns hold it, so that a search may spell it the same.
func SQLText(s string) string {
	replacement := string(utf8.RuneError)
	return strings.ReplaceAll(strings.ToValidUTF8(s, replacement), "\x00", replacement)
}
