package bench

import (
	"context"
	"os"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// variant is a way to learn which tasks are applied.
type variant string

const (
	audit variant = "audit" // reconcile.Auditor, all of it
	naive variant = "naive" // asynq's Inspector in pages of 30, one SELECT a task
	floor variant = "floor" // the same bytes in large batches, judging nothing

	// Listing alone, without a ledger: by plain commands, and through
	// asynq.Inspector with its Lua scripts.
	listPlain   variant = "list-plain"
	listScripts variant = "list-scripts"
)

// work is what a variant saw. Only an audit knows codes; listings know nothing of
// effects.
type work struct {
	Tasks   int
	Applied int
	ByCode  map[reconcile.Code]int
}

// do does the job's work.
func (j job) do(ctx context.Context) (work, error) {
	switch j.Variant {
	case audit:
		return j.audit(ctx)
	case naive:
		return j.naive(ctx)
	case floor:
		return j.floor(ctx)
	default:
		return j.list(ctx)
	}
}

// list reads every task as an audit does, and drops it.
func (j job) list(ctx context.Context) (work, error) {
	client, err := inspect.Open(ctx, inspect.Options{URI: j.Redis})
	if err != nil {
		return work{}, err
	}
	defer client.Close()
	var w work
	for page, err := range client.Pages(ctx, inspect.Listing{Plain: j.Variant == listPlain}) {
		if err != nil {
			return work{}, err
		}
		w.Tasks += len(page)
	}
	return w, nil
}

func openNull() (*os.File, error) { return os.OpenFile(os.DevNull, os.O_WRONLY, 0) }
