package reconcile

import (
	"errors"
	"fmt"
	"strings"

	"github.com/idemctl/idemctl/reconcile/internal/sqltext"
)

// SourceFault is what of a source no ledger takes, whatever tables it has.
type SourceFault struct {
	Field string // "table", "column", "at", "claimed_at", "fingerprint" or "when"
	Err   error  // and what to write instead
}

// Faults reads the source's names and its predicate as a ledger would, without one.
// The scheme is that of the ledger's DSN; "" means that nobody knows it, and then only
// what no ledger takes is a fault. A name or predicate that is left out is none.
func (s Source) Faults(scheme string) []SourceFault {
	var out []SourceFault
	note := func(field string, err error) {
		if err != nil {
			out = append(out, SourceFault{field, err})
		}
	}
	note("table", CheckTableName(s.Table))
	for _, c := range []struct{ field, name string }{
		{"column", s.Column}, {"at", s.At}, {"claimed_at", s.ClaimedAt}, {"fingerprint", s.Fingerprint},
	} {
		note(c.field, checkName(c.name, 1, "a column's name has one part: quote a name that holds a dot"))
	}
	note("when", checkWhen(s.When, scheme))
	return out
}

// CheckTableName says why no ledger takes a table's name.
func CheckTableName(name string) error {
	return checkName(name, 2, "a table's name has a schema and a name at most: quote a name that holds a dot")
}

func checkName(name string, most int, otherwise string) error {
	if name == "" {
		return nil
	}
	parts, err := sqltext.ParseName(name)
	switch {
	case err != nil:
		return fmt.Errorf(`%w (write it like payments, app.payments or "any name")`, err)
	case len(parts) > most:
		return errors.New(otherwise)
	}
	return nil
}

func checkWhen(when, scheme string) error {
	if strings.TrimSpace(when) == "" {
		return nil
	}
	dialects := []sqltext.Dialect{sqltext.PostgreSQL}
	switch scheme {
	case "":
		dialects = append(dialects, sqltext.SQLite)
	case "sqlite", "sqlite3":
		dialects = []sqltext.Dialect{sqltext.SQLite}
	}
	var first error
	for _, d := range dialects {
		err := sqltext.CheckPredicate(strings.TrimSpace(when), d)
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return fmt.Errorf("when %q: %w (write one boolean expression over the row's columns, such as status = 'completed')", when, first)
}
