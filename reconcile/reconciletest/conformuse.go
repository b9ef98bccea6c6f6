package reconciletest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idemctl/idemctl/reconcile"
)

func replaceNames(sql, index, table string) string {
	return strings.NewReplacer("{i}", index, "{t}", table).Replace(sql)
}

func testFacts(t *testing.T, b *bench) {
	b.exec("CREATE TABLE marks (task_id {text} PRIMARY KEY)")
	l := b.open(Opening{})
	before, err := l.Facts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if before.Kind == "" || before.Version == "" || before.Server == "" || before.Replica || before.Now.IsZero() {
		t.Errorf("facts: %+v", before)
	}
	rows, err := b.prepareOn(l, reconcile.Source{Table: "marks"}).Read(t.Context(), []string{"k"}, true)
	if err != nil {
		t.Fatal(err)
	}
	after, err := l.Facts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if rows.At.Before(before.Now) || rows.At.After(after.Now) {
		t.Errorf("read at %v, between %v and %v", rows.At, before.Now, after.Now)
	}
}

func testReadOnly(t *testing.T, b *bench) {
	b.exec("CREATE TABLE marks (task_id {text} PRIMARY KEY)")
	l := b.open(Opening{})
	for _, sql := range []string{
		"INSERT INTO marks VALUES ('k')", "CREATE TABLE other (x {int})", "DROP TABLE marks", "DELETE FROM marks",
	} {
		if err := b.store.Write(l, strings.ReplaceAll(sql, "{int}", b.Integer)); err == nil {
			t.Errorf("the ledger's session runs %s", sql)
		}
	}
	if got := b.read(b.prepareOn(l, reconcile.Source{Table: "marks"}), "k")[0][0]; got.Count != 0 {
		t.Errorf("a row was written: %+v", got)
	}
}

// testOneSnapshot: a handler writes mark and effect in one transaction; no read
// may see the one without the other.
func testOneSnapshot(t *testing.T, b *bench) {
	b.exec("CREATE TABLE marks (task_id {text} PRIMARY KEY)")
	b.exec("CREATE TABLE pay (task_id {text} PRIMARY KEY)")
	k := b.prepare(reconcile.Source{Table: "marks"}, reconcile.Source{Table: "pay"})
	const keys = 150
	done := make(chan struct{})
	b.Cleanup(func() { <-done }) // whatever ends the test, nobody writes after it
	go func() {
		defer close(done)
		for i := range keys {
			b.exec(fmt.Sprintf("BEGIN; INSERT INTO pay VALUES ('k%d'); INSERT INTO marks VALUES ('k%d'); COMMIT", i, i))
		}
	}()
	all := make([]string, keys)
	for i := range all {
		all[i] = fmt.Sprintf("k%d", i)
	}
	for writing := true; writing; {
		select {
		case <-done:
			writing = false
		default:
		}
		for i, rows := range b.read(k, all...) {
			if rows[0].Count != rows[1].Count {
				t.Fatalf("key %s: %d marks and %d effects", all[i], rows[0].Count, rows[1].Count)
			}
			if !writing && rows[0].Count != 1 {
				t.Errorf("key %s is missing at the end", all[i])
			}
		}
	}
}

func testFreshness(t *testing.T, b *bench) {
	b.exec("CREATE TABLE marks (task_id {text} PRIMARY KEY)")
	k := b.prepareOn(b.open(Opening{MaxConns: 1}), reconcile.Source{Table: "marks"})
	for i := range 5 {
		key := fmt.Sprintf("k%d", i)
		if got := b.read(k, key)[0][0].Count; got != 0 {
			t.Errorf("key %s is there early", key)
		}
		b.exec("INSERT INTO marks VALUES ({1})", key)
		if got := b.read(k, key)[0][0].Count; got != 1 {
			t.Errorf("key %s: the commit before the read is not seen", key)
		}
	}
}

func testConcurrency(t *testing.T, b *bench) {
	b.exec("CREATE TABLE marks (task_id {text} PRIMARY KEY)")
	for i := 0; i < 100; i += 2 {
		b.exec("INSERT INTO marks VALUES ({1})", fmt.Sprintf("k%d", i))
	}
	l := b.open(Opening{MaxConns: 2})
	k := b.prepareOn(l, reconcile.Source{Table: "marks"})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 100 {
				rows, err := k.Read(t.Context(), []string{fmt.Sprintf("k%d", i), "absent"}, false)
				if err != nil {
					t.Error(err)
					return
				}
				if want := int64((i + 1) % 2); rows.Keys[0][0].Count != want || rows.Keys[1][0].Count != 0 {
					t.Errorf("key k%d: %+v", i, rows.Keys)
				}
			}
			if _, err := l.Facts(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func testCancel(t *testing.T, b *bench) {
	b.exec("CREATE TABLE marks (task_id {text} PRIMARY KEY)")
	b.exec("INSERT INTO marks VALUES ('k')")
	l := b.open(Opening{})
	k := b.prepareOn(l, reconcile.Source{Table: "marks"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, err := range everyCall(ctx, l, k) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s after its context: %v", name, err)
		}
		b.failsAs(err, reconcile.LedgerFailed)
	}
	if got := b.read(k, "k")[0][0].Count; got != 1 {
		t.Errorf("after a cancelled call: %d rows", got)
	}
}

func testClosed(t *testing.T, b *bench) {
	b.exec("CREATE TABLE marks (task_id {text} PRIMARY KEY)")
	l := b.open(Opening{})
	k := b.prepareOn(l, reconcile.Source{Table: "marks"})
	for range 2 {
		if err := l.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	}
	for name, err := range everyCall(t.Context(), l, k) {
		if err == nil {
			t.Errorf("%s works on a closed ledger", name)
			continue
		}
		b.failsAs(err, reconcile.LedgerFailed)
		b.mentions("error", err.Error(), "closed")
	}
}

// everyCall is the error of each call that asks the database.
func everyCall(ctx context.Context, l reconcile.Ledger, k reconcile.Lookup) map[string]error {
	out := make(map[string]error)
	_, out["Facts"] = l.Facts(ctx)
	_, out["Prepare"] = l.Prepare(ctx, []reconcile.Source{{Table: "marks"}})
	_, out["Read"] = k.Read(ctx, []string{"k"}, false)
	_, out["Read with fence"] = k.Read(ctx, []string{"k"}, true)
	_, out["Oldest"] = k.Oldest(ctx)
	_, out["Writers"] = k.Writers(ctx, time.Now())
	return out
}
