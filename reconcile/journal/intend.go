package journal

import (
	"context"
	"errors"
	"fmt"
)

var errNoRun = errors.New("no run has begun")

// Begin starts a run and returns its ID. The record is synced, so a journal that
// cannot be written is known before anything is read for the run. One run at a
// time: the one before must have ended. Where there is a copy that cannot be
// written, the run is ended again and the error is a CopyError.
func (j *Journal) Begin(run Run) (string, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.run.ID != "" {
		return "", j.fault("writing to", fmt.Errorf("run %q has not ended", j.run.ID))
	}
	if run.ID == "" {
		run.ID = NewRunID(j.opt.Now())
	}
	rec := Record{Kind: KindRun, Run: run.ID, Planned: run.Planned}
	j.describe(&rec, run)
	if err := j.write([]Record{rec}, true); err != nil {
		return "", err
	}
	if err := j.copyNow(context.Background()); err != nil {
		end := Record{Kind: KindEnd, Run: run.ID, Error: notBegun(err), NotBegun: run.Planned}
		j.date(&end)
		return "", errors.Join(err, j.write([]Record{end}, true))
	}
	j.run = run
	clear(j.open)
	return run.ID, nil
}

// Intend writes what is about to be changed, all of it or nothing, and returns
// nil only when it has been handed to the disk, and then to the copy if there is
// one. After an error the caller must change nothing. Many intents in one call
// cost one sync.
//
// Where the copy cannot be written, the error is a CopyError, and the journal says
// of every one of the items that it was refused: they are settled.
//
// Of each record the caller sets Item (not used before in this run), Change and
// what it changes; the journal sets the rest from the run.
func (j *Journal) Intend(intents ...Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	records := make([]Record, len(intents))
	seen := make(map[itemKey]struct{}, len(intents))
	for i, r := range intents {
		if err := j.intendable(&r, seen); err != nil {
			return j.fault("writing to", fmt.Errorf("intent %q: %w", r.Item, err))
		}
		j.describe(&r, j.run)
		r.Kind, r.Run, r.Outcome = KindIntent, j.run.ID, OutcomeUnknown
		r.Task = r.Task.redacted(j.opt.Redact)
		records[i] = r
	}
	if err := j.write(records, true); err != nil {
		return err
	}
	if err := j.copyNow(context.Background()); err != nil {
		return errors.Join(err, j.refuse(records, err))
	}
	for key := range seen {
		j.open[key] = struct{}{}
	}
	return nil
}

// refuse says of intents that they will not be carried out.
func (j *Journal) refuse(intents []Record, why error) error {
	results := make([]Record, len(intents))
	for i, r := range intents {
		results[i] = Record{Kind: KindResult, Run: r.Run, Item: r.Item, Outcome: OutcomeRefused, Found: notBegun(why), NotBegun: 1}
		j.date(&results[i])
	}
	return j.write(results, true)
}

func notBegun(why error) string { return "not begun: " + why.Error() }

func (j *Journal) intendable(r *Record, seen map[itemKey]struct{}) error {
	switch {
	case j.run.ID == "":
		return errNoRun
	case r.Run != "" && r.Run != j.run.ID:
		return fmt.Errorf("it belongs to run %q, not to %q", r.Run, j.run.ID)
	case r.Item == "":
		return errors.New("it names no item")
	case !r.Change.Known():
		return fmt.Errorf("change %q is not one this version makes", r.Change)
	}
	key := keyOf(j.run.ID, r.Item)
	_, open := j.open[key]
	if _, twice := seen[key]; open || twice {
		return errors.New("the item has an intent already")
	}
	seen[key] = struct{}{}
	return nil
}

// Settle writes what became of intents. It is written at once, so it survives
// the process, and handed to the disk with the next Intend, Begin, End, Sync or
// Close: after a power cut before that the intent is pending again. The copy gets
// it then, and not before.
//
// Of each record the caller sets Item, Outcome and what was found. Run is this
// run's when it is ""; that of another run settles what was pending there. An
// outcome other than refused needs an intent.
func (j *Journal) Settle(results ...Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	records := make([]Record, len(results))
	for i, r := range results {
		if r.Run == "" {
			r.Run = j.run.ID
		}
		if err := j.settleable(&r); err != nil {
			return j.fault("writing to", fmt.Errorf("result %q: %w", r.Item, err))
		}
		if r.Run != j.run.ID {
			r.Operator, r.Host = j.opt.Operator, j.opt.Host
		}
		r.Kind = KindResult
		r.Task = r.Task.redacted(j.opt.Redact)
		j.date(&r)
		records[i] = r
	}
	if err := j.write(records, false); err != nil {
		return err
	}
	for _, r := range records {
		if r.Outcome != OutcomeUnknown {
			delete(j.open, keyOf(r.Run, r.Item))
		}
	}
	return nil
}

func (j *Journal) settleable(r *Record) error {
	_, open := j.open[keyOf(r.Run, r.Item)]
	switch {
	case r.Run == "":
		return errNoRun
	case r.Item == "":
		return errors.New("it names no item")
	case r.Outcome > OutcomeFailed:
		return fmt.Errorf("outcome %d is not known", r.Outcome)
	case r.Run == j.run.ID && !open && r.Outcome != OutcomeRefused:
		return errors.New("the item has no open intent")
	}
	return nil
}

// End says that a run writes no more intents, and syncs. A copy that cannot be
// written is no failure any more, see Behind. It takes the ID of this
// run, or of one that was killed and whose items have been settled since.
func (j *Journal) End(run string) error { return j.EndEarly(run, "", 0) }

// EndEarly is End for a run that did not come to the end of its plan: why says so in
// an operator's words, and notBegun is how many of the planned items were never
// begun, those among them whose results say so.
func (j *Journal) EndEarly(run, why string, notBegun int) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if run == "" {
		return j.fault("writing to", errNoRun)
	}
	rec := Record{Kind: KindEnd, Run: run, Error: why, NotBegun: notBegun}
	j.date(&rec)
	if run != j.run.ID {
		rec.Operator, rec.Host = j.opt.Operator, j.opt.Host
	}
	if err := j.write([]Record{rec}, true); err != nil {
		return err
	}
	j.copyLast()
	if run == j.run.ID {
		j.run = Run{}
		clear(j.open)
	}
	return nil
}

// describe fills in who, when and why.
func (j *Journal) describe(r *Record, run Run) {
	r.Operator, r.Host = j.opt.Operator, j.opt.Host
	r.Context, r.Command, r.Reason, r.PlanDigest = run.Context, run.Command, firstOf(r.Reason, run.Reason), run.PlanDigest
	r.Server = run.Server
	j.date(r)
}

func (j *Journal) date(r *Record) {
	if r.At.IsZero() {
		r.At = j.opt.Now()
	}
	r.At = r.At.UTC()
}

// firstOf is the item's own reason before the run's.
func firstOf(own, general string) string {
	if own != "" {
		return own
	}
	return general
}
