package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

func checkRule(f *findings, rule *Rule, key string, ledgers []string) {
	tables := rule.tables()
	for _, role := range slices.Sorted(maps.Keys(tables)) {
		checkTable(f, tables[role], key+"."+role.String(), ledgers)
	}
	for n, code := range rule.Ignore {
		area, name, found := strings.Cut(code.Value, "/")
		if code.IsSet() && (!found || area == "" || name == "" || strings.ContainsAny(code.Value, " \t\n")) {
			f.errorf(code.Source, fmt.Sprintf("%s.ignore[%d]", key, n),
				"%s is no finding code, expected one such as lock/cross-queue", echo(code.Value))
		}
	}
	positive(f, rule.Settle, key+".settle")
	positive(f, rule.ConfirmAfter, key+".confirm_after")
	if effects := rule.MaxEffects; effects.IsSet() && effects.Value < 1 {
		f.errorf(effects.Source, key+".max_effects", "0 is not valid, expected 1 or more")
	}
	checkUnique(f, rule.Unique, key+".unique")
	checkFingerprint(f, rule, tables, key+".fingerprint")
	warnOfIdleKeys(f, rule, tables, key)
}

func checkTable(f *findings, table *Table, key string, ledgers []string) {
	checkLedgerName(f, table.Ledger, key+".ledger", ledgers)
	if len(ledgers) > 1 {
		require(f, table.Ledger, table.Source, key+".ledger", oneOf(ledgers))
	}
	require(f, table.Table, table.Source, key+".table", "a table's name")
	require(f, table.Column, table.Source, key+".column", "the column that holds the key")
}

func checkUnique(f *findings, unique *Unique, key string) {
	if unique == nil {
		return
	}
	if ttl := unique.TTL; ttl.IsSet() && ttl.Value < time.Second {
		f.errorf(ttl.Source, key+".ttl", "%s is too short, expected 1s or more (asynq refuses less)", echo(ttl.text()))
	}
	positive(f, unique.Period, key+".period")
}

func checkFingerprint(f *findings, rule *Rule, tables map[Role]*Table, key string) {
	stored := rule.Fingerprint
	if stored == nil {
		return
	}
	require(f, stored.Column, stored.Source, key+".column", "the column that holds the hash")
	require(f, stored.Hash, stored.Source, key+".hash", (*Hash)(nil).expects())
	require(f, stored.Role, stored.Source, key+".source", (*Role)(nil).expects())
	if role := stored.Role; role.IsSet() && tables[role.Value] == nil {
		var has []string
		for _, one := range slices.Sorted(maps.Keys(tables)) {
			has = append(has, one.String())
		}
		f.errorf(role.Source, key+".source", "this rule has no %s, expected %s", role.Value, oneOf(has))
	}
}

// warnOfIdleKeys warns of keys that cannot have an effect for want of another.
func warnOfIdleKeys(f *findings, rule *Rule, tables map[Role]*Table, key string) {
	if len(tables) == 0 && rule.Key.IsSet() {
		f.warnf(rule.Key.Source, key+".key", "the rule names no mark, effect or inbox, so that its key is never looked up")
	}
	if rule.MaxEffects.IsSet() && rule.Effect == nil {
		f.warnf(rule.MaxEffects.Source, key+".max_effects", "the rule names no effect, so that there is nothing to count")
	}
}

// positive reports a duration of zero where one would mean never to wait for an attempt that may still commit, or
// a period without length.
func positive(f *findings, d Setting[time.Duration], key string) {
	if d.IsSet() && d.Value <= 0 {
		f.errorf(d.Source, key, "0 is not valid, expected a duration above zero such as 2m")
	}
}
