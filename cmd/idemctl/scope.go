package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// scopeFlags narrow what a command looks at.
type scopeFlags struct {
	queues, states, types, ids []string
	where                      string
}

func (s *scopeFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVarP(&s.queues, "queue", "q", nil, "`QUEUE` name or glob; repeatable")
	f.StringSliceVarP(&s.states, "state", "s", nil, "task `STATE`: active, pending, aggregating, scheduled, retry, archived, completed; repeatable")
	f.StringSliceVarP(&s.types, "type", "t", nil, "task `TYPE` or glob; repeatable")
	f.StringArrayVarP(&s.ids, "id", "i", nil, "task `ID`; repeatable")
	f.StringVar(&s.where, "where", "", "filter `EXPR`, e.g. 'type startsWith \"payment:\" && retried > 3'")
	for flag, complete := range map[string]func() []string{"state": stateNames} {
		_ = cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return complete(), cobra.ShellCompDirectiveNoFileComp
		})
	}
}

func stateNames() []string {
	var names []string
	for _, s := range inspect.States() {
		names = append(names, s.String())
	}
	return names
}

// scope checks the flags.
func (s *scopeFlags) scope() (reconcile.Scope, *reconcile.Filter, error) {
	scope := reconcile.Scope{Queues: s.queues, Types: s.types, IDs: s.ids}
	for _, name := range s.states {
		state, err := inspect.ParseState(strings.TrimSpace(name))
		if err != nil {
			return scope, nil, usagef("--state: %w", err)
		}
		scope.States = append(scope.States, state)
	}
	if s.where == "" {
		return scope, nil, nil
	}
	filter, err := reconcile.CompileFilter(s.where)
	if err != nil {
		return scope, nil, &usageError{err: err, hint: "fields: " + strings.Join(reconcile.FilterFields(), ", ")}
	}
	return scope, filter, nil
}
