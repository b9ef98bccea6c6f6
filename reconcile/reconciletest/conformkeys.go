package reconciletest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/idemctl/idemctl/reconcile"
)

func testKeyTypes(t *testing.T, b *bench) {
	for i, c := range b.Keys {
		t.Run(c.Type, func(t *testing.T) {
			b := &bench{Backend: b.Backend, T: t, store: b.store}
			table := fmt.Sprintf("keys%d", i)
			b.exec("CREATE TABLE " + table + " (id {text}, task_id " + c.Type + " PRIMARY KEY)")
			// Every other key is there.
			for n := 0; n < len(c.Holds); n += 2 {
				b.store.Exec("INSERT INTO "+table+" (task_id) VALUES ("+b.Placeholder+"1)", c.stored(c.Holds[n]))
			}
			k := b.prepare(reconcile.Source{Table: table, Column: "task_id"})
			b.checkKeys(k, c)
			b.checkSpellings(k, c)
			f := k.Sources()[0]
			if !f.Indexed || f.Unique != reconcile.UniqueYes || f.Column != "task_id" {
				t.Errorf("facts of the source: %+v", f)
			}
		})
	}
}

func (c KeyColumn) stored(key string) any {
	if c.Stored == nil {
		return key
	}
	return c.Stored(key)
}

// checkKeys reads what fits and what does not in one batch.
func (b *bench) checkKeys(k reconcile.Lookup, c KeyColumn) {
	b.Helper()
	got := b.read(k, append(append([]string{}, c.Holds...), c.Unfit...)...)
	for i, key := range c.Holds {
		canonical, problem := k.Fit(key)
		if problem != "" {
			b.Errorf("key %q: %s", key, problem)
		}
		if again, _ := k.Fit(canonical); again != canonical {
			b.Errorf("key %q: canonical form %q has the canonical form %q", key, canonical, again)
		}
		if want := int64((i + 1) % 2); got[i][0].Count != want || got[i][0].Passing != want {
			b.Errorf("key %q: %+v, want %d", key, got[i][0], want)
		}
	}
	for i, key := range c.Unfit {
		if _, problem := k.Fit(key); problem == "" {
			b.Errorf("key %q fits", key)
		} else {
			b.mentions("the problem", problem, "task_id")
		}
		if row := got[len(c.Holds)+i][0]; row != (reconcile.Row{}) {
			b.Errorf("key %q, which does not fit, has %+v", key, row)
		}
	}
}

// checkSpellings reads two spellings of one value in one batch.
func (b *bench) checkSpellings(k reconcile.Lookup, c KeyColumn) {
	b.Helper()
	for _, pair := range c.Same {
		x, _ := k.Fit(pair[0])
		y, _ := k.Fit(pair[1])
		if x != y || x == "" {
			b.Errorf("%q and %q have the canonical forms %q and %q", pair[0], pair[1], x, y)
		}
		if got := b.read(k, pair[0], pair[1]); got[0][0] != got[1][0] || got[0][0].Count != 1 {
			b.Errorf("%q has %+v and %q has %+v", pair[0], got[0][0], pair[1], got[1][0])
		}
	}
}

func testRefusedTypes(t *testing.T, b *bench) {
	l := b.open(Opening{AllowScan: true})
	for i, c := range b.Refused {
		table := fmt.Sprintf("refused%d", i)
		b.exec("CREATE TABLE " + table + " (task_id " + c + ")")
		e := b.refused(l, reconcile.Source{Table: table}, reconcile.LedgerBadSource)
		b.mentions("error", e.text, table, "task_id")
		if e.hint == "" {
			t.Errorf("type %s: no hint", c)
		}
	}
}

// hostileKeys are texts that a queue may hold and that a text column can hold.
var hostileKeys = []string{
	`'; DROP TABLE marks; --`, `"`, `'`, `\`, `\'`, `''`, `$1`, `?1`, `%s`, `{}`, `{a,b}`, `NULL`, `[1]`,
	" leading", "trailing ", "tab\tnewline\ncr\r", "\u202eabc", "\u0000"[1:] + "é", "e\u0301", "👩‍👩‍👧",
	"\u2028", "\ufffd", "\ufeffbom", "\x01\x1b[31m", "true", "0x10", "1e3", "-0", "007", "7",
	strings.Repeat("long", 500),
}

// impossibleKeys are keys that no column holds.
var impossibleKeys = []string{"", "a\x00b", "\x00", "\xff", "a\xc3", "\xed\xa0\x80", strings.Repeat("x", 1<<20)}

func testHostileKeys(t *testing.T, b *bench) {
	b.exec("CREATE TABLE marks (task_id {text} PRIMARY KEY)")
	for i, key := range hostileKeys {
		if i%2 == 0 {
			b.exec("INSERT INTO marks VALUES ({1})", key)
		}
	}
	k := b.prepare(reconcile.Source{Table: "marks"})
	b.checkKeys(k, KeyColumn{Holds: hostileKeys, Unfit: impossibleKeys})
	// The whole batch again, one by one: a key's answer does not depend on its
	// neighbours.
	for i, key := range append(append([]string{}, hostileKeys...), impossibleKeys...) {
		want := int64(0)
		if i < len(hostileKeys) {
			want = int64((i + 1) % 2)
		}
		if got := b.read(k, key)[0][0].Count; got != want {
			t.Errorf("key %q alone: %d rows, want %d", key, got, want)
		}
	}
}

func testBatches(t *testing.T, b *bench) {
	b.exec("CREATE TABLE marks (task_id {text} PRIMARY KEY)")
	b.exec("INSERT INTO marks VALUES ('k7'), ('k19999')")
	k := b.prepare(reconcile.Source{Table: "marks"})
	if rows := b.read(k); len(rows) != 0 {
		t.Errorf("an empty batch has %d answers", len(rows))
	}
	keys := make([]string, 20000)
	for i := range keys {
		keys[i] = fmt.Sprintf("k%d", i)
	}
	for i, rows := range b.read(k, keys...) {
		if want := i == 7 || i == 19999; (rows[0].Count == 1) != want {
			t.Errorf("key %s: %+v", keys[i], rows[0])
		}
	}
	for i, rows := range b.read(k, "k7", "x", "k7", "k7") {
		if want := i != 1; (rows[0].Count == 1) != want {
			t.Errorf("repeated key, answer %d: %+v", i, rows[0])
		}
	}
	if rows := b.read(k, "\x00", ""); rows[0][0] != (reconcile.Row{}) || rows[1][0] != (reconcile.Row{}) {
		t.Errorf("keys that do not fit have rows: %+v", rows)
	}
}
