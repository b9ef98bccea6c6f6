package config

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// DefaultConfirmAfter is how long to wait, unless told otherwise, before an active task whose effect is applied is
// looked at again.
const DefaultConfirmAfter = 3 * time.Second

// Request is what [Resolve] starts from.
type Request struct {
	// Flags the operator gave, "config" and "context" among them.
	Flags Flags
	// Known are the long names of all flags the command has. Those without a key of their own in the file are
	// looked for in the environment and under "flags" in the context; a name there that is not among Known is a
	// mistake. Nil: neither is done.
	Known []string
}

// Settings are what one run works with: every value settled, secrets expanded, rules complete.
type Settings struct {
	// File is the configuration file that was read, or "".
	File string
	// Context is the chosen context. Name is unset when no file, or a file without contexts, was read.
	//
	// Rules are complete: Match, Key, Atomic and MaxEffects have their defaults, Settle, ConfirmAfter and Policy
	// those of the context where the rule has none, and every Table names its ledger. Flags hold what the
	// environment and the file say for [Request.Known] flags that were not given on the command line.
	Context Context
	// Warnings are what works and is probably not meant, in this context and in the file as a whole.
	Warnings []Warning
}

// Resolve reads the configuration file and settles every value by the order of precedence in the package comment.
// Errors are [Errors] or one [Error]. It reads the files that secrets refer to, and nothing else.
func Resolve(env Environment, request Request) (*Settings, error) {
	named, _ := request.Flags.values("config")
	file, err := Load(env, Locate(env, last(named)))
	if err != nil {
		return nil, err
	}
	r := &resolver{
		findings: &findings{warnings: slices.Clone(file.Warnings)},
		expander: expander{env: env, dir: dirOf(file.Path)},
		flags:    request.Flags,
		known:    request.Known,
	}
	chosen, index := r.choose(file)
	key := fmt.Sprintf("contexts[%d]", index)
	r.warnings = slices.DeleteFunc(r.warnings, func(w Warning) bool {
		return strings.HasPrefix(w.Key, "contexts[") && !strings.HasPrefix(w.Key, key)
	})
	if err := r.err(); err != nil {
		return nil, err
	}
	settings := r.settle(chosen, key)
	if err := r.err(); err != nil {
		return nil, err
	}
	settings.File, settings.Warnings = file.Path, r.warnings
	return settings, nil
}

// resolver settles one context.
type resolver struct {
	*findings
	expander
	flags Flags
	known []string
	// fileOnly looks at no IDEMCTL_ variable.
	fileOnly bool
}

// choose finds the context: --context, IDEMCTL_CONTEXT, current_context, or the only one there is.
func (r *resolver) choose(file *File) (chosen Context, index int) {
	name := file.CurrentContext
	r.fill(&name, "context")
	names := file.names()
	switch {
	case !name.IsSet() && len(names) == 0:
		return Context{}, 0
	case !name.IsSet() && len(names) == 1:
		return file.Contexts[0], 0
	case !name.IsSet():
		r.errors = append(r.errors, &Error{
			Where:   file.Path,
			Problem: fmt.Sprintf("no context is chosen, expected --context or current_context to be %s", oneOf(names)),
			Hint:    "idemctl config use-context " + names[0],
		})
		return Context{}, 0
	}
	if index = slices.Index(names, name.Value); index >= 0 {
		return file.Contexts[index], index
	}
	where := "no configuration file was read"
	if file.Path != "" {
		where = file.Path + " has " + strings.Join(names, ", ")
	}
	r.errors = append(r.errors, &Error{
		Where:   name.Source.Where,
		Problem: fmt.Sprintf("no context is named %s (%s)%s", echo(name.Value), where, didYouMean(name.Value, names)),
		Hint:    "idemctl config contexts",
	})
	return Context{}, 0
}

// settle completes a context.
func (r *resolver) settle(context Context, key string) *Settings {
	context.Redis = r.redis(context.Redis, key+".redis")
	context.Ledgers = r.ledgers(context.Ledgers, key)
	r.fill(&context.Settle, "settle")
	r.fill(&context.ConfirmAfter, "confirm_after")
	context.ConfirmAfter = context.ConfirmAfter.Or(byDefault(DefaultConfirmAfter))
	positive(r.findings, context.Settle, "")
	positive(r.findings, context.ConfirmAfter, "")
	context.Protected = context.Protected.Or(byDefault(false))
	context.ReadOnly = context.ReadOnly.Or(byDefault(false))
	context.Redact = r.redact(context.Redact)
	context.Journal = r.journal(context.Journal, context.Ledgers, key)
	context.Flags = r.otherFlags(context.Flags, key)
	context.Rules = slices.Clone(context.Rules)
	for n := range context.Rules {
		r.rule(&context.Rules[n], &context, fmt.Sprintf("%s.rules[%d]", key, n))
	}
	return &Settings{Context: context}
}

// redact joins all levels: a path that one of them hides stays hidden.
func (r *resolver) redact(written []Setting[string]) []Setting[string] {
	paths, spelt := r.flags.values("redact")
	var all []Setting[string]
	for _, path := range paths {
		all = append(all, Setting[string]{Value: path, Source: flagSource(spelt)})
	}
	var variable Setting[[]string]
	r.fillVariable(&variable, "redact", false)
	for _, path := range variable.Value {
		all = append(all, Setting[string]{Value: path, Source: variable.Source})
	}
	return append(all, written...)
}

func (r *resolver) journal(journal Journal, ledgers []Ledger, key string) Journal {
	if journal.File.IsSet() {
		journal.File.Value = r.path(journal.File.Source, journal.File.Value)
	}
	r.fill(&journal.File, "journal")
	if place := JournalFile(r.env); !journal.File.IsSet() && place != "" {
		journal.File = byDefault(place)
	}
	journal.Redact = journal.Redact.Or(byDefault(false))
	if journal.Ledger.IsSet() {
		checkLedgerName(r.findings, journal.Ledger, key+".journal.ledger", ledgerNames(ledgers))
	}
	return journal
}

// rule gives a rule what it leaves to its context and to the defaults.
func (r *resolver) rule(rule *Rule, context *Context, key string) {
	rule.Match.Type = rule.Match.Type.Or(byDefault("*"))
	rule.Match.Queue = rule.Match.Queue.Or(byDefault("*"))
	rule.Key = rule.Key.Or(byDefault("id"))
	rule.Atomic = rule.Atomic.Or(byDefault(true))
	rule.MaxEffects = rule.MaxEffects.Or(byDefault(1))
	rule.Settle = override(rule.Settle, context.Settle)
	rule.ConfirmAfter = override(rule.ConfirmAfter, context.ConfirmAfter)
	rule.Policy.Retry = rule.Policy.Retry.Or(context.Policy.Retry)
	rule.Policy.MaxRetry = rule.Policy.MaxRetry.Or(context.Policy.MaxRetry)
	rule.Policy.Timeout = rule.Policy.Timeout.Or(context.Policy.Timeout)
	rule.Policy.QueueWait = rule.Policy.QueueWait.Or(context.Policy.QueueWait)
	rule.Mark = r.table(rule.Mark, context.Ledgers, key+".mark")
	rule.Effect = r.table(rule.Effect, context.Ledgers, key+".effect")
	rule.Inbox = r.table(rule.Inbox, context.Ledgers, key+".inbox")
}

// override gives a rule's own value, unless a flag or the environment spoke: they beat everything in the file.
func override[T any](own, context Setting[T]) Setting[T] {
	if context.Source.Kind > SourceFile {
		return context
	}
	return own.Or(context)
}

// table gives a source its ledger. The table of the file is left as it is.
func (r *resolver) table(written *Table, ledgers []Ledger, key string) *Table {
	if written == nil {
		return nil
	}
	table := *written
	names := ledgerNames(ledgers)
	switch {
	case len(names) == 0:
		r.errorf(table.Source, key, "there is no ledger to look in, expected ledgers in the context, or --ledger %s=DSN",
			table.Ledger.Or(byDefault("NAME")).Value)
	case table.Ledger.IsSet():
		if !slices.Contains(names, table.Ledger.Value) {
			checkLedgerName(r.findings, table.Ledger, key+".ledger", names)
		}
	case len(names) == 1:
		table.Ledger = byDefault(names[0])
	default:
		r.errorf(table.Source, key+".ledger", "missing, expected %s", oneOf(names))
	}
	return &table
}

func ledgerNames(ledgers []Ledger) []string {
	context := Context{Ledgers: ledgers}
	return context.ledgerNames()
}

// last gives the last of several values of one flag, which is the one that counts.
func last(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}
