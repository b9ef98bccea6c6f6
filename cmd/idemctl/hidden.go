package main

import (
	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/config"
	"github.com/idemctl/idemctl/reconcile"
)

// hidden says which fields no output may show.
func (s *session) hidden() (func(reconcile.Field) bool, error) { return hiddenFields(s.settings) }

func hiddenFields(set *config.Settings) (func(reconcile.Field) bool, error) {
	var paths []string
	for _, path := range set.Context.Redact {
		paths = append(paths, path.Value)
	}
	hidden, err := render.KeysHidden(paths)
	if err != nil {
		return nil, usagef("%w", err)
	}
	return hidden, nil
}

// hiddenKeys says of which types, by queue, no output may show the keys: those that
// the rules make of hidden fields, and where a type is not known all of a queue's
// that has such a rule. Nil hides none.
func hiddenKeys(set *config.Settings) (func(taskType, queue string) bool, error) {
	hidden, err := hiddenFields(set)
	if err != nil || hidden == nil {
		return nil, err
	}
	var rules []*reconcile.Bound
	for i, r := range rulesOf(set.Context.Rules) {
		b, err := reconcile.Bind(i+1, r)
		if err != nil {
			return nil, usagef("%w", err)
		}
		rules = append(rules, b)
	}
	return func(taskType, queue string) bool {
		for _, b := range rules {
			switch {
			case taskType == "" && b.KeyReads(hidden):
				return true
			case taskType != "" && b.Matches(taskType, queue):
				return b.KeyReads(hidden)
			}
		}
		return false
	}, nil
}
