package observed

import (
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// Entry is a periodic entry of a running scheduler, as far as it tells how long
// its tasks live and are locked. Options given to asynq.NewTask are not among
// them.
type Entry struct {
	Spec     string
	Unique   time.Duration // 0: not given
	MaxRetry int           // -1: not given
	Timeout  time.Duration // 0: not given
	Interval time.Duration // shortest between its next ticks; 0: not known
}

func entryOf(s inspect.Schedule) (queue string, e Entry) {
	p := reconcile.PeriodicOf(s)
	return p.Queue, Entry{Spec: p.Spec, Unique: p.Unique, MaxRetry: p.MaxRetry, Timeout: p.Timeout, Interval: p.Interval()}
}
