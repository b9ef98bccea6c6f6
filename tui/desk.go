package tui

import (
	"context"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// ticket names one request: whose it is, what for, and which of those.
type ticket struct {
	desk   int
	slot   slot
	number uint64
}

// slot is what a request is for. A new request in a slot replaces the one before.
type slot string

// reply is what came of a request.
type reply struct {
	ticket
	value any
	err   error
	// more reads what else comes of the request; nil: this is all.
	more tea.Cmd
}

// desk is where one screen's requests go out and their replies come in. A reply
// that is not the one waited for is stale.
type desk struct {
	id      int
	numbers *uint64
	ctx     context.Context
	cancel  context.CancelFunc
	open    map[slot]*request
	now     func() time.Time
}

// request is one that is waited for.
type request struct {
	number uint64
	since  time.Time
	cancel context.CancelFunc
}

func newDesk(parent context.Context, id int, numbers *uint64, now func() time.Time) *desk {
	ctx, cancel := context.WithCancel(parent)
	return &desk{id: id, numbers: numbers, ctx: ctx, cancel: cancel, open: map[slot]*request{}, now: now}
}

// issue opens a request in a slot, and ends the one that was there.
func (d *desk) issue(s slot) (ticket, context.Context) {
	d.drop(s)
	*d.numbers++
	ctx, cancel := context.WithCancel(d.ctx)
	d.open[s] = &request{number: *d.numbers, since: d.now(), cancel: cancel}
	return ticket{d.id, s, *d.numbers}, ctx
}

// take says whether the reply is the one that its slot waits for. The last part of
// a reply ends the request.
func (d *desk) take(r reply) bool {
	q := d.open[r.slot]
	if r.desk != d.id || q == nil || q.number != r.number {
		return false
	}
	if r.more == nil {
		q.cancel()
		delete(d.open, r.slot)
	}
	return true
}

// waits says whether a request of the slot is under way.
func (d *desk) waits(s slot) bool { return d.open[s] != nil }

// oldest is the request that is under way longest, and since when; zero for none.
func (d *desk) oldest(except ...slot) (what slot, since time.Time) {
	for s, q := range d.open {
		older := since.IsZero() || q.since.Before(since) || q.since.Equal(since) && s < what
		if older && !slices.Contains(except, s) {
			what, since = s, q.since
		}
	}
	return what, since
}

// drop ends the request of a slot; its reply will be stale.
func (d *desk) drop(s slot) {
	if q := d.open[s]; q != nil {
		q.cancel()
		delete(d.open, s)
	}
}

// close ends all requests.
func (d *desk) close() {
	for s := range d.open {
		d.drop(s)
	}
	d.cancel()
}
