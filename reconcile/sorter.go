package reconcile

import (
	"context"
	"time"
)

// sorter collects tasks into one batch for each rule.
type sorter struct {
	work    chan<- batch
	batches map[*Bound]*batch
	held    int
	flushed time.Time // when all batches were last sent
}

func newSorter(work chan<- batch) *sorter {
	return &sorter{work: work, batches: map[*Bound]*batch{}, flushed: time.Now()}
}

func (s *sorter) put(ctx context.Context, rule *Bound, it item) {
	b := s.batches[rule]
	if b == nil {
		b = &batch{rule: rule}
		s.batches[rule] = b
	}
	b.items = append(b.items, it)
	b.bytes += len(it.task.Payload) + len(it.task.LastErr)
	s.held++
	if len(b.items) >= batchKeys || b.bytes >= batchBytes {
		s.send(ctx, b)
	}
	if s.held >= pendingTasks {
		s.flush(ctx)
	}
}

func (s *sorter) send(ctx context.Context, b *batch) {
	if len(b.items) == 0 {
		return
	}
	select {
	case s.work <- *b:
	case <-ctx.Done():
	}
	s.held -= len(b.items)
	// The next batch of the rule is likely as large.
	b.items, b.bytes = make([]item, 0, len(b.items)), 0
}

func (s *sorter) flush(ctx context.Context) {
	for _, b := range s.batches {
		s.send(ctx, b)
	}
	s.flushed = time.Now()
}
