package tui

import (
	"context"
	"errors"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// trouble is a source that failed.
type trouble struct {
	err error
	at  time.Time // of the last failure
}

// met notes that every source answers: a backend that was just opened has asked
// them.
func (h *hub) met() {
	clear(h.troubles)
	clear(h.answered)
	h.pinged = time.Time{}
	h.answered[sourceRedis] = h.now()
	for _, name := range h.backend.Place().Ledgers {
		h.answered[sourceLedger(name)] = h.now()
	}
}

// blame notes that a source failed, which the banner shows. An error that is no
// source's is the screen's own concern.
func (h *hub) blame(err error) {
	if source := sourceOf(err); source != "" {
		h.troubles[source] = trouble{err, h.now()}
	}
}

// fine notes that Redis answers. What else was read says nothing of a ledger: tasks
// without a rule ask none. Those are asked by themselves.
func (h *hub) fine() {
	delete(h.troubles, sourceRedis)
	h.answered[sourceRedis] = h.now()
}

// ping takes what became of asking every ledger whether it is there.
func (h *hub) ping(said map[string]error) {
	before := h.pinged
	h.pinged = h.now()
	for _, name := range sortedKeys(said) {
		source, err := sourceLedger(name), said[name]
		if err != nil {
			h.troubles[source] = trouble{err, h.now()}
			continue
		}
		h.answered[source] = h.now()
		if t, is := h.troubles[source]; is && h.over(t, before) {
			delete(h.troubles, source)
		}
	}
}

// over says whether a trouble of a ledger that answers has passed. One that could
// not be reached can; one whose lookups fail may fail the next as well: it has
// passed where none has failed from one ping to the next and none is under way.
func (h *hub) over(t trouble, before time.Time) bool {
	var ledger *reconcile.LedgerError
	if errors.As(t.err, &ledger) && ledger.Kind == reconcile.LedgerUnreachable {
		return true
	}
	_, since := h.top().papers().oldest()
	return since.IsZero() && !t.at.After(before)
}

// troubleWords say which source is lost, since when and why.
func (h *hub) troubleWords(source string) string {
	t := h.troubles[source]
	since, known := h.answered[source]
	if !known {
		since = t.at
	}
	verb := "fails"
	if silent(t.err) {
		verb = "has not answered"
	}
	return safe(source) + " " + verb + " since " + clockTime(since, h.opt.UTC) + ", " + span(h.now().Sub(since)) + ": " + safe(briefly(t.err))
}

// silent says whether no answer came, and not one that is an error.
func silent(err error) bool {
	var redis *inspect.Error
	var ledger *reconcile.LedgerError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return true
	case errors.As(err, &ledger):
		return ledger.Kind == reconcile.LedgerUnreachable || ledger.Kind == reconcile.LedgerTimeout
	case errors.As(err, &redis):
		return redis.Kind == inspect.KindUnreachable || redis.Kind == inspect.KindTimeout
	}
	return false
}

const sourceRedis = "Redis"

func sourceLedger(name string) string { return "ledger " + name }

// sourceOf names the source that an error comes from; "" for none.
func sourceOf(err error) string {
	var redis *inspect.Error
	var ledger *reconcile.LedgerError
	switch {
	case errors.As(err, &ledger):
		return sourceLedger(ledger.Ledger)
	case errors.As(err, &redis), errors.Is(err, context.DeadlineExceeded):
		return sourceRedis
	}
	return ""
}

// briefly is what went wrong, without what the screen says already.
func briefly(err error) string {
	var redis *inspect.Error
	var ledger *reconcile.LedgerError
	switch {
	case errors.As(err, &ledger) && ledger.Err != nil:
		return ledger.Err.Error()
	case errors.As(err, &redis) && redis.Err != nil:
		return redis.Err.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	}
	return err.Error()
}

// waitedFor says what a request in a slot waits for.
func (h *hub) waitedFor(s slot) string {
	switch s {
	case slotCounts:
		return "Redis (the counts)"
	case slotRows:
		return "Redis and the ledgers (the tasks shown)"
	case slotList:
		if t, ok := h.top().(*tasks); ok && t.now.keeps {
			return "Redis and the ledgers (the list)"
		}
		return "Redis (the list)"
	case slotPing:
		return "the ledgers"
	case slotRuns, slotItems:
		return "the journal"
	}
	return string(s)
}
