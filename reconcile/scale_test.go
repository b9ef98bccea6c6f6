package reconcile_test

import (
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
)

// What the locks of many tasks add to an audit is measured, not asserted:
// IDEMCTL_SCALE_TASKS says of how many.
func TestAuditOfManyTasksWithLocksIsMeasured(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("IDEMCTL_SCALE_TASKS"))
	if err != nil {
		n = 2000
	}
	for _, locked := range []bool{false, true, false, true} {
		w := newWorld(t)
		w.redis.Fill("scale", inspect.StateScheduled, n, func(_ int, m *inspecttest.Message) {
			if locked {
				m.UniqueKey = inspect.UniqueKey("scale", m.Type, m.Payload)
			}
		})
		began := time.Now()
		var sink collector
		report, err := w.auditor(reconcile.Options{}).Run(t.Context(), &sink)
		took := time.Since(began)
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if err != nil || !report.Complete || report.Totals.Tasks != n {
			t.Fatalf("%d tasks, complete %t, %v", report.Totals.Tasks, report.Complete, err)
		}
		found(sink.findings).none(t, append(allIntegrity, allLocks...)...)
		t.Logf("%d tasks, locks %t: %v, heap from the system %d MB", n, locked, took.Round(time.Millisecond), m.HeapSys>>20)
	}
}
