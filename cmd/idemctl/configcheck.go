package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/config"
	"github.com/idemctl/idemctl/reconcile"
)

// checkExpressions reads what package config keeps as text with the readers that
// the commands use.
func checkExpressions(file *config.File) error {
	var faults []error
	for n, c := range file.Contexts {
		check := textCheck{context: c, key: fmt.Sprintf("contexts[%d]", n)}
		s := &session{settings: &config.Settings{Context: c}}
		for i, r := range rulesOf(c.Rules) {
			if err := bindRule(i+1, r); err != nil {
				check.faults = append(check.faults, s.place(err))
			}
			check.rule(&c.Rules[i], fmt.Sprintf("%s.rules[%d]", check.key, i))
		}
		check.rest()
		faults = append(faults, check.faults...)
	}
	return errors.Join(faults...)
}

// textCheck gathers what is wrong in one context.
type textCheck struct {
	context config.Context
	key     string
	faults  []error
}

// note takes a mistake, if it is one.
func (t *textCheck) note(at config.Source, key string, err error) {
	if err != nil {
		t.faults = append(t.faults, &config.Error{Where: at.Where, Key: key, Problem: err.Error()})
	}
}

// rest checks what stands outside of rules.
func (t *textCheck) rest() {
	for i, path := range t.context.Redact {
		t.note(path.Source, fmt.Sprintf("%s.redact[%d]", t.key, i), render.CheckRedact(path.Value))
	}
	if table := t.context.Journal.Table; table.IsSet() {
		t.note(table.Source, t.key+".journal.table", reconcile.CheckTableName(table.Value))
	}
}

func (t *textCheck) rule(r *config.Rule, key string) {
	for i, code := range r.Ignore {
		t.note(code.Source, fmt.Sprintf("%s.ignore[%d]", key, i), checkCode(code.Value))
	}
	for _, of := range []struct {
		name  string
		role  reconcile.Role
		table *config.Table
	}{
		{"mark", reconcile.RoleMark, r.Mark}, {"effect", reconcile.RoleEffect, r.Effect}, {"inbox", reconcile.RoleInbox, r.Inbox},
	} {
		if of.table != nil {
			t.table(of.role, of.table, key+"."+of.name)
		}
	}
	if f := r.Fingerprint; f != nil {
		for _, fault := range (reconcile.Source{Fingerprint: f.Column.Value}).Faults("") {
			t.note(f.Column.Source, key+".fingerprint.column", fault.Err)
		}
	}
}

func (t *textCheck) table(role reconcile.Role, table *config.Table, key string) {
	at := map[string]config.Source{
		"table": table.Table.Source, "column": table.Column.Source, "at": table.At.Source,
		"claimed_at": table.ClaimedAt.Source, "when": table.When.Source,
	}
	for _, fault := range sourceOf(role, table).Faults(t.scheme(table.Ledger.Value)) {
		t.note(at[fault.Field], key+"."+fault.Field, fault.Err)
	}
}

// scheme is that of the DSN of a ledger, or of the only one; "" where the file does
// not say it.
func (t *textCheck) scheme(ledger string) string {
	for _, l := range t.context.Ledgers {
		if l.Name.Value == ledger || ledger == "" && len(t.context.Ledgers) == 1 {
			scheme, _, found := strings.Cut(l.DSN.Value.Reveal(), ":")
			if found && scheme != "file" && !strings.Contains(scheme, "$") {
				return scheme
			}
		}
	}
	return ""
}

// checkCode says that no finding has a code.
func checkCode(name string) error {
	code := reconcile.Code(strings.TrimSpace(name))
	if name == "" || code.Known() {
		return nil
	}
	var known []string
	for _, c := range reconcile.Codes() {
		known = append(known, string(c))
	}
	return fmt.Errorf("no finding has the code %q; did you mean %q?", name, nearest(name, known, 1)[0])
}
