package reconcile_test

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/idemctl/idemctl/inspect"
)

// hooked is Redis where something happens between two of the auditor's reads:
// what traffic does by chance happens here for certain.
type hooked struct {
	*inspect.Client
	listed func(inspect.Ref, inspect.State) // between a list and its hashes
	sweep  func()                           // before the first key is met
	locked func()                           // after locks were read
	owners func()                           // after tasks were read by their IDs
}

func (h *hooked) Pages(ctx context.Context, l inspect.Listing) iter.Seq2[[]inspect.Task, error] {
	if h.listed != nil && l.Want == nil {
		var mu sync.Mutex
		seen := map[inspect.Ref]inspect.State{}
		l.Want = func(r inspect.Ref, s inspect.State) bool {
			mu.Lock()
			defer mu.Unlock()
			h.listed(r, s)
			before, ok := seen[r]
			seen[r] = s
			return !ok || before != s
		}
	}
	return h.Client.Pages(ctx, l)
}

func (h *hooked) Keys(ctx context.Context, s inspect.Sweep) iter.Seq2[[]inspect.Key, error] {
	if h.sweep != nil {
		h.sweep()
	}
	return h.Client.Keys(ctx, s)
}

func (h *hooked) Locks(ctx context.Context, keys []string) ([]inspect.Lock, error) {
	locks, err := h.Client.Locks(ctx, keys)
	if h.locked != nil {
		h.locked()
	}
	return locks, err
}

func (h *hooked) Read(ctx context.Context, refs []inspect.Ref) ([]inspect.Task, error) {
	tasks, err := h.Client.Read(ctx, refs)
	if h.owners != nil && len(refs) > 0 {
		h.owners()
	}
	return tasks, err
}

// toRetry moves an active task to retry, as a worker does at a failure that does
// not count (asynq rdb.go: retryCmd).
func (w *world) toRetry(r inspect.Ref) {
	w.t.Helper()
	ctx, q := context.Background(), "asynq:{"+r.Queue+"}:"
	_, err := w.redis.Client().TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.LRem(ctx, q+"active", 0, r.ID)
		p.ZRem(ctx, q+"lease", r.ID)
		p.ZAdd(ctx, q+"retry", redis.Z{Score: float64(time.Now().Add(time.Hour).Unix()), Member: r.ID})
		p.HSet(ctx, q+"t:"+r.ID, "state", "retry")
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// atFirst makes a step of a story happen at its first occasion only.
func atFirst(step func()) func() { return sync.OnceFunc(step) }

// must ends the test on an error.
func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}
