package reconciletest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/idemctl/idemctl/reconcile"
)

func testWhen(t *testing.T, b *bench) {
	b.exec("CREATE TABLE pay (n {int} PRIMARY KEY, task_id {text}, status {text})")
	b.exec("CREATE INDEX pay_task ON pay (task_id)")
	b.exec(`INSERT INTO pay VALUES (1, 'done', 'captured'), (2, 'claimed', 'new'), (3, 'null', NULL),
		(4, 'both', 'captured'), (5, 'both', 'new'), (6, 'twice', 'captured'), (7, 'twice', 'captured')`)
	k := b.prepare(reconcile.Source{Table: "pay", Column: "task_id", When: "status = 'captured'"})
	keys := []string{"done", "claimed", "null", "both", "twice", "absent"}
	want := [][2]int64{{1, 1}, {1, 0}, {1, 0}, {2, 1}, {2, 2}, {0, 0}}
	for i, rows := range b.read(k, keys...) {
		if got := [2]int64{rows[0].Count, rows[0].Passing}; got != want[i] {
			t.Errorf("%s: %v rows and passing, want %v", keys[i], got, want[i])
		}
	}
}

func testNullKeys(t *testing.T, b *bench) {
	b.exec("CREATE TABLE pay (task_id {text} UNIQUE, note {text})")
	b.exec("INSERT INTO pay VALUES (NULL, 'x'), (NULL, 'y'), ('k', 'z')")
	k := b.prepare(reconcile.Source{Table: "pay"})
	rows := b.read(k, "k", "NULL", "null")
	if rows[0][0].Count != 1 || rows[1][0].Count != 0 || rows[2][0].Count != 0 {
		t.Errorf("rows: %+v", rows)
	}
	if u := k.Sources()[0].Unique; u != reconcile.UniqueYes {
		t.Errorf("uniqueness %d of a column that may be null", u)
	}
}

var (
	monday  = time.Date(2026, 3, 2, 10, 0, 0, 123456000, time.UTC)
	tuesday = monday.Add(24 * time.Hour)
	friday  = monday.Add(4 * 24 * time.Hour)
)

// stamp is how a test writes an instant.
func stamp(t time.Time) string { return t.Format("2006-01-02 15:04:05.999999Z07:00") }

func testTimes(t *testing.T, b *bench) {
	b.exec("CREATE TABLE pay (n {int} PRIMARY KEY, task_id {text}, status {text}, at {time})")
	b.exec("CREATE INDEX pay_task ON pay (task_id)")
	insert := func(n int, key, status string, at any) {
		b.exec("INSERT INTO pay VALUES ({1}, {2}, {3}, {4})", n, key, status, at)
	}
	insert(1, "one", "done", stamp(monday))
	insert(2, "more", "done", stamp(tuesday))
	insert(3, "more", "done", stamp(monday))
	insert(4, "more", "new", stamp(friday))
	insert(5, "timeless", "done", nil)
	insert(6, "some", "done", nil)
	insert(7, "some", "done", stamp(friday))
	insert(8, "zoned", "done", stamp(monday.In(time.FixedZone("", -5*3600))))
	k := b.prepare(
		reconcile.Source{Table: "pay", Column: "task_id", At: "at", When: "status = 'done'"},
		reconcile.Source{Table: "pay", Column: "task_id"},
	)
	keys := []string{"one", "more", "timeless", "some", "zoned"}
	want := [][2]time.Time{{monday, monday}, {monday, tuesday}, {}, {friday, friday}, {monday, monday}}
	for i, rows := range b.read(k, keys...) {
		if !rows[0].FirstAt.Equal(want[i][0]) || !rows[0].LastAt.Equal(want[i][1]) {
			t.Errorf("%s: from %v to %v, want %v", keys[i], rows[0].FirstAt, rows[0].LastAt, want[i])
		}
		if !rows[1].FirstAt.IsZero() || !rows[1].LastAt.IsZero() || !rows[1].ClaimedAt.IsZero() {
			t.Errorf("%s: times without a time column: %+v", keys[i], rows[1])
		}
	}
	if s := k.Sources(); s[0].At != "at" || s[1].At != "" {
		t.Errorf("time columns %q and %q", s[0].At, s[1].At)
	}
}

func testClaims(t *testing.T, b *bench) {
	b.exec("CREATE TABLE pay (n {int} PRIMARY KEY, task_id {text}, status {text}, at {time}, claimed {time})")
	b.exec("CREATE INDEX pay_task ON pay (task_id)")
	for i, claimed := range []time.Time{monday, friday, tuesday} {
		b.exec("INSERT INTO pay VALUES ({1}, 'k', 'new', {2}, {3})", i, stamp(claimed.Add(time.Hour)), stamp(claimed))
	}
	b.exec("INSERT INTO pay VALUES (9, 'k', 'done', {1}, {2})", stamp(friday.Add(48*time.Hour)), stamp(friday.Add(48*time.Hour)))
	source := reconcile.Source{Table: "pay", Column: "task_id", At: "at", When: "status = 'done'"}
	with := source
	with.ClaimedAt = "claimed"
	rows := b.read(b.prepare(source, with), "k")[0]
	if want := friday.Add(time.Hour); !rows[0].ClaimedAt.Equal(want) {
		t.Errorf("claimed at %v by the time column, want %v", rows[0].ClaimedAt, want)
	}
	if !rows[1].ClaimedAt.Equal(friday) {
		t.Errorf("claimed at %v, want %v", rows[1].ClaimedAt, friday)
	}
}

func testFingerprints(t *testing.T, b *bench) {
	b.exec("CREATE TABLE pay (n {int} PRIMARY KEY, task_id {text}, status {text}, raw {bytes}, hex {text})")
	b.exec("CREATE INDEX pay_task ON pay (task_id)")
	insert := func(n int, key, status string, raw, hex any) {
		b.exec("INSERT INTO pay VALUES ({1}, {2}, {3}, {4}, {5})", n, key, status, raw, hex)
	}
	insert(1, "plain", "done", []byte{0xAB, 0x01}, " AB01 ")
	insert(2, "none", "done", nil, nil)
	insert(3, "both", "new", []byte{0x01}, "01")
	insert(4, "both", "done", []byte{0xFF}, "FF")
	insert(5, "claim", "new", []byte{0x02}, `\x02`)
	source := reconcile.Source{Table: "pay", Column: "task_id", When: "status = 'done'", Fingerprint: "raw"}
	text := source
	text.Fingerprint = "hex"
	k := b.prepare(source, text)
	for key, want := range map[string]string{"plain": "ab01", "none": "", "both": "ff", "claim": "02", "absent": ""} {
		for i, row := range b.read(k, key)[0] {
			if row.Fingerprint != want {
				t.Errorf("%s, source %d: fingerprint %q, want %q", key, i, row.Fingerprint, want)
			}
		}
	}
}

func testSources(t *testing.T, b *bench) {
	b.exec("CREATE TABLE marks (task_id {text} PRIMARY KEY)")
	b.exec("CREATE TABLE pay (n {int} PRIMARY KEY, event {text} UNIQUE, status {text})")
	b.exec("INSERT INTO marks VALUES ('a'), ('b')")
	b.exec("INSERT INTO pay VALUES (1, 'b', 'done'), (2, 'c', 'new')")
	k := b.prepare(
		reconcile.Source{Role: reconcile.RoleMark, Table: "marks"},
		reconcile.Source{Role: reconcile.RoleEffect, Table: "pay", Column: "event", When: "status = 'done'"},
		reconcile.Source{Role: reconcile.RoleInbox, Table: "pay", Column: "event", When: "status = 'new'"},
	)
	want := map[string][3][2]int64{
		"a": {{1, 1}, {0, 0}, {0, 0}}, "b": {{1, 1}, {1, 1}, {1, 0}}, "c": {{0, 0}, {1, 0}, {1, 1}}, "d": {},
	}
	for key, w := range want {
		for i, row := range b.read(k, key)[0] {
			if got := [2]int64{row.Count, row.Passing}; got != w[i] {
				t.Errorf("key %s, source %d: %v, want %v", key, i, got, w[i])
			}
		}
	}
	for i, role := range []reconcile.Role{reconcile.RoleMark, reconcile.RoleEffect, reconcile.RoleInbox} {
		if got := k.Sources()[i].Role; got != role {
			t.Errorf("source %d is %v, want %v", i, got, role)
		}
	}
}

func testOldest(t *testing.T, b *bench) {
	b.exec("CREATE TABLE marks (task_id {text} PRIMARY KEY, processed_at {time})")
	b.exec("CREATE TABLE bare (task_id {text} PRIMARY KEY)")
	k := b.prepare(reconcile.Source{Table: "marks"}, reconcile.Source{Table: "bare"})
	check := func(when string, want ...reconcile.SourceAge) {
		t.Helper()
		var got []reconcile.SourceAge
		for range 10 {
			var err error
			if got, err = k.Oldest(context.Background()); err != nil {
				t.Fatal(err)
			}
			// A search that is held up ends without a time, which is no answer.
			if !slices.ContainsFunc(want, func(w reconcile.SourceAge) bool { return !w.Oldest.IsZero() }) || !got[0].Oldest.IsZero() {
				break
			}
		}
		for i := range want {
			if got[i].Empty != want[i].Empty || !got[i].Oldest.Equal(want[i].Oldest) {
				t.Errorf("%s, source %d: %+v, want %+v", when, i, got[i], want[i])
			}
		}
	}
	check("empty", reconcile.SourceAge{Empty: true}, reconcile.SourceAge{Empty: true})
	b.exec("INSERT INTO marks VALUES ('x', NULL)")
	b.exec("INSERT INTO bare VALUES ('x')")
	check("without times", reconcile.SourceAge{}, reconcile.SourceAge{})
	b.exec("INSERT INTO marks VALUES ('y', {1}), ('z', {2})", stamp(tuesday), stamp(monday))
	check("with times", reconcile.SourceAge{Oldest: monday}, reconcile.SourceAge{})
}
