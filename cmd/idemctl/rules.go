package main

import (
	"errors"
	"fmt"

	"github.com/idemctl/idemctl/config"
	"github.com/idemctl/idemctl/reconcile"
)

// rulesOf turns the rules of the configuration into the auditor's. No rules is
// nil: then the implicit one applies.
func rulesOf(rules []config.Rule) []reconcile.Rule {
	var out []reconcile.Rule
	for _, r := range rules {
		out = append(out, ruleOf(r))
	}
	return out
}

func ruleOf(r config.Rule) reconcile.Rule {
	rule := reconcile.Rule{
		Type: r.Match.Type.Value, Queue: r.Match.Queue.Value,
		Class: classes[r.Class.Value], Key: r.Key.Value,
		Policy: reconcile.Policy{
			Retry: r.Policy.Retry.Value, MaxRetry: r.Policy.MaxRetry.Value,
			Timeout: r.Policy.Timeout.Value, QueueWait: r.Policy.QueueWait.Value,
			Set: r.Policy.Retry.IsSet() || r.Policy.MaxRetry.IsSet() || r.Policy.Timeout.IsSet(),
		},
		Settle: r.Settle.Value, ConfirmAfter: r.ConfirmAfter.Value,
		NotAtomic: !r.Atomic.Value, MaxEffects: r.MaxEffects.Value,
	}
	if r.Unique != nil {
		rule.Unique = reconcile.Unique{TTL: r.Unique.TTL.Value, Period: r.Unique.Period.Value}
	}
	for _, code := range r.Ignore {
		rule.Ignore = append(rule.Ignore, reconcile.Code(code.Value))
	}
	for _, of := range []struct {
		role  reconcile.Role
		named config.Role
		table *config.Table
	}{
		{reconcile.RoleMark, config.RoleMark, r.Mark},
		{reconcile.RoleEffect, config.RoleEffect, r.Effect},
		{reconcile.RoleInbox, config.RoleInbox, r.Inbox},
	} {
		if of.table == nil {
			continue
		}
		source := sourceOf(of.role, of.table)
		if f := r.Fingerprint; f != nil && f.Role.Value == of.named {
			source.Fingerprint, source.FingerprintHash = f.Column.Value, f.Hash.Value.String()
		}
		rule.Sources = append(rule.Sources, source)
	}
	return rule
}

func sourceOf(role reconcile.Role, t *config.Table) reconcile.Source {
	return reconcile.Source{
		Role: role, Ledger: t.Ledger.Value, Table: t.Table.Value, Column: t.Column.Value,
		At: t.At.Value, ClaimedAt: t.ClaimedAt.Value, When: t.When.Value,
		Retention: reconcile.Retention{Forever: t.Retention.Value.Forever, For: t.Retention.Value.Keep},
	}
}

var classes = map[config.Class]reconcile.Class{
	config.ClassCreate:    reconcile.ClassCreate,
	config.ClassIncrement: reconcile.ClassIncrement,
	config.ClassOverwrite: reconcile.ClassOverwrite,
	config.ClassSetStatus: reconcile.ClassSetStatus,
	config.ClassDelete:    reconcile.ClassDelete,
}

// place says where in the configuration the rule stands that an error is about.
func (s *session) place(err error) error {
	var rule *reconcile.RuleError
	if !errors.As(err, &rule) || rule.Number < 1 || rule.Number > len(s.settings.Context.Rules) {
		return err
	}
	r := s.settings.Context.Rules[rule.Number-1]
	source := r.Source
	switch rule.Field {
	case "key":
		source = r.Key.Source
	case "policy":
		source = r.Policy.Retry.Source
	case "type":
		source = r.Match.Type.Source
	case "queue":
		source = r.Match.Queue.Source
	}
	return fmt.Errorf("%s: %w", source, err)
}

// bindRule compiles a rule's expressions without a session.
func bindRule(number int, r reconcile.Rule) error {
	_, err := reconcile.Bind(number, r)
	return err
}
