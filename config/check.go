package config

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// maxName is the longest name of a context or a ledger, in bytes.
const maxName = 128

// ledgerName is what a ledger may be called, for --ledger NAME=DSN to be clear.
var ledgerName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)

// checkFile finds what the types of the schema cannot say: names that must differ or exist, keys that must come
// together or not, values out of range.
func checkFile(f *findings, file *File) {
	names := map[string]Source{}
	for n := range file.Contexts {
		context := &file.Contexts[n]
		key := fmt.Sprintf("contexts[%d]", n)
		checkName(f, context.Name, context.Source, key+".name", names, isContextName,
			"printable text without spaces, at most 128 bytes")
		checkContext(f, context, key)
	}
	if current := file.CurrentContext; current.IsSet() {
		if _, found := names[current.Value]; !found {
			choices := file.names()
			f.errorf(current.Source, "current_context", "no context is named %s, expected %s%s",
				echo(current.Value), oneOf(choices), didYouMean(current.Value, choices))
		}
	}
}

// checkName checks the name of a context or a ledger and that it is the first of its kind.
func checkName(
	f *findings, name Setting[string], block Source, key string, seen map[string]Source,
	valid func(string) bool, expected string,
) {
	if !name.IsSet() {
		require(f, name, block, key, "a name")
		return
	}
	if !valid(name.Value) {
		f.errorf(name.Source, key, "not a valid name, expected %s", expected)
		return
	}
	if first, twice := seen[name.Value]; twice {
		f.errorf(name.Source, key, "the name %s is taken (line %d), expected another", echo(name.Value), first.line)
		return
	}
	seen[name.Value] = name.Source
}

func isContextName(name string) bool {
	return len(name) <= maxName && strings.IndexFunc(name, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsGraphic(r)
	}) < 0
}

func isLedgerName(name string) bool { return len(name) <= maxName && ledgerName.MatchString(name) }

func checkContext(f *findings, context *Context, key string) {
	checkRedis(f, &context.Redis, key+".redis")
	ledgers := map[string]Source{}
	for n := range context.Ledgers {
		ledger := &context.Ledgers[n]
		ledgerKey := fmt.Sprintf("%s.ledgers[%d]", key, n)
		checkName(f, ledger.Name, ledger.Source, ledgerKey+".name", ledgers, isLedgerName,
			`letters, digits, "_", "." and "-"`)
		require(f, ledger.DSN, ledger.Source, ledgerKey+".dsn", "a connection string such as postgres://… or sqlite:FILE")
		checkReferences(f, ledger.DSN.Source, ledgerKey+".dsn", ledger.DSN.Value.Reveal())
	}
	positive(f, context.Settle, key+".settle")
	positive(f, context.ConfirmAfter, key+".confirm_after")
	for n := range context.Rules {
		checkRule(f, &context.Rules[n], fmt.Sprintf("%s.rules[%d]", key, n), context.ledgerNames())
	}
	warnOfShadows(f, context.Rules, key)
	checkJournal(f, &context.Journal, key+".journal", context.ledgerNames())
	checkFlagHomes(f, context.Flags, key+".flags")
}

func checkJournal(f *findings, journal *Journal, key string, ledgers []string) {
	switch {
	case journal.Ledger.IsSet() && !journal.Table.IsSet():
		f.errorf(journal.Ledger.Source, key, "ledger without table, expected both")
	case journal.Table.IsSet() && !journal.Ledger.IsSet():
		f.errorf(journal.Table.Source, key, "table without ledger, expected both")
	}
	checkLedgerName(f, journal.Ledger, key+".ledger", ledgers)
}

// checkLedgerName checks that a ledger exists. A context that declares none leaves it to the command line, and
// to [Resolve].
func checkLedgerName(f *findings, name Setting[string], key string, ledgers []string) {
	if !name.IsSet() || len(ledgers) == 0 {
		return
	}
	for _, known := range ledgers {
		if known == name.Value {
			return
		}
	}
	f.errorf(name.Source, key, "no ledger is named %s, expected %s%s",
		echo(name.Value), oneOf(ledgers), didYouMean(name.Value, ledgers))
}

// ledgerNames lists the ledgers a context declares, wrong names left out.
func (c *Context) ledgerNames() []string {
	var names []string
	for n := range c.Ledgers {
		if name := c.Ledgers[n].Name; name.IsSet() && isLedgerName(name.Value) {
			names = append(names, name.Value)
		}
	}
	return names
}

// names lists the contexts of a file, wrong names left out.
func (file *File) names() []string {
	var names []string
	for n := range file.Contexts {
		if name := file.Contexts[n].Name; name.IsSet() && isContextName(name.Value) {
			names = append(names, name.Value)
		}
	}
	return names
}

// require reports a setting that is missing from its block. A block that is none, and a value that is wrong, have
// been reported already.
func require(f *findings, setting sourced, block Source, key, expected string) {
	if setting.source().Kind == SourceUnset && block.Kind != SourceUnset && !f.reported(key) {
		f.errorf(block, key, "missing, expected %s", expected)
	}
}

// reported tells whether the value at key is wrong already.
func (f *findings) reported(key string) bool {
	for _, one := range f.errors {
		if one.Key == key {
			return true
		}
	}
	return false
}

// oneOf lists what may be written, or says that nothing may.
func oneOf(choices []string) string {
	switch len(choices) {
	case 0:
		return "one to be declared first"
	case 1:
		return choices[0]
	default:
		return "one of " + strings.Join(choices, ", ")
	}
}
