package bench

import (
	"testing"
	"time"

	"github.com/idemctl/idemctl/inspect"
)

func TestDatasetHasEveryTaskInOneState(t *testing.T) {
	for _, size := range []int{20_011, hundredThousand} {
		d := dataset{size: size}
		seen := map[inspect.State]int{}
		for i := range size {
			seen[d.stateOf(i)]++
		}
		total := 0
		for _, s := range states {
			if seen[s] != d.count(s) {
				t.Errorf("%d tasks: %d are %s, count says %d", size, seen[s], s, d.count(s))
			}
			total += d.count(s)
		}
		if total != size {
			t.Errorf("the counts add up to %d of %d tasks", total, size)
		}
	}
}

// A row that is there twice, or belongs to a task that is not to be applied,
// would make the truth untrue.
func TestLedgerHoldsAppliedTasksAndStrangersOnce(t *testing.T) {
	d := dataset{size: 20_000, began: time.Now()}
	applied := map[string]bool{}
	for i := range d.size {
		task := d.task(i)
		applied[task.id] = half.applied(&task)
	}
	if len(applied) != d.size {
		t.Fatalf("%d IDs for %d tasks", len(applied), d.size)
	}
	rows := ledgerRows{dataset: d, incident: half, applied: d.truth(half).Applied, rows: 50_000}
	seen := map[string]bool{}
	for rows.Next() {
		if seen[rows.id] {
			t.Fatalf("%s is there twice", rows.id)
		}
		seen[rows.id] = true
		if mine, ok := applied[rows.id]; ok && !mine {
			t.Fatalf("%s is in the ledger and ought not to be", rows.id)
		}
	}
	if len(seen) != rows.rows || rows.told != rows.applied {
		t.Fatalf("%d rows, %d of them of tasks; want %d and %d", len(seen), rows.told, rows.rows, rows.applied)
	}
}

func TestPercentileIsAValueThatWasMeasured(t *testing.T) {
	for _, c := range []struct {
		values []int
		p      int
		want   int
	}{
		{nil, 99, 0},
		{[]int{7}, 50, 7},
		{[]int{3, 1, 2}, 50, 2},
		{[]int{4, 3, 2, 1}, 50, 2},
		{[]int{1, 2, 3, 4}, 100, 4},
		{[]int{1, 2, 3, 4}, 0, 1},
	} {
		if got := percentile(c.values, c.p); got != c.want {
			t.Errorf("percentile %d of %v = %d, want %d", c.p, c.values, got, c.want)
		}
	}
}
