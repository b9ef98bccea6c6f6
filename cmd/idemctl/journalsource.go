package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/config"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// journalReading is how `journal list` and `show` read: from the file, or from the
// copy in a ledger.
type journalReading struct {
	*program
	fromLedger bool
	output     outputFlags

	set    *config.Settings
	page   render.Options
	path   string
	table  journalTable // nil: the file is read
	source render.JournalSource
	// hidesKey says whose keys no output may show; nil hides none.
	hidesKey func(taskType, queue string) bool
}

func (r *journalReading) add(cmd *cobra.Command, limit string) {
	journalFlag(cmd)
	ledgerFlag(cmd)
	f := cmd.Flags()
	f.BoolVar(&r.fromLedger, "from-ledger", false, "read the copy in the ledger, of all hosts that write into it")
	f.StringVarP(&r.output.format, "output", "o", string(render.FormatTable), "`FORMAT`: "+formatNames(render.JournalFormats(), ", "))
	f.BoolVar(&r.output.noHeaders, "no-headers", false, "no column titles")
	f.IntVar(&r.output.limit, "limit", 0, "most lines to print (0: "+limit+"; -1: all)")
	f.StringArray("redact", nil, "payload `PATH` to hide in every output; repeatable")
	completeFormats(cmd, render.JournalFormats())
}

// open settles what to read. The caller closes it.
func (r *journalReading) open(ctx context.Context, cmd *cobra.Command) error {
	var err error
	if r.set, err = r.settings(cmd); err != nil {
		return err
	}
	if r.page, err = r.output.options(r.program, r.set); err != nil {
		return err
	}
	if r.hidesKey, err = hiddenKeys(r.set); err != nil {
		return err
	}
	if !slices.Contains(render.JournalFormats(), r.page.Format) {
		return usagef("--output %s: a journal is printed as %s", r.page.Format, formatNames(render.JournalFormats(), ", "))
	}
	if r.fromLedger {
		if r.table, err = openJournalTable(ctx, r.set, journalReader); err != nil {
			return err
		}
		r.source.Table = r.table.String()
		return nil
	}
	r.path, err = journalPath(r.set)
	r.source.Path = r.path
	return err
}

func (r *journalReading) close() {
	if r.table != nil {
		_ = r.table.Close() // only reads were done
	}
}

// mostProblems is how many damaged places are named.
const mostProblems = 20

// problem keeps an error after which reading goes on, and returns any other.
func (r *journalReading) problem(err error) error {
	if !journal.GoesOn(err) {
		return err
	}
	if n := len(r.source.Problems); n < mostProblems {
		r.log.warnf("%v", err)
	} else if n == mostProblems {
		r.log.warnf("more of %s is damaged", r.source.Path+r.source.Table)
	}
	r.source.Problems = append(r.source.Problems, err.Error())
	return nil
}

// ended is the command's end: what was damaged makes the answer incomplete.
func (r *journalReading) ended() error {
	if len(r.source.Problems) > 0 {
		return outcome(exitIncomplete)
	}
	return nil
}

// runs are the summaries of the latest runs, the latest first; most less than 0 is
// all of them.
func (r *journalReading) runs(ctx context.Context, most int) (runs []journal.Summary, all int, err error) {
	if r.table != nil {
		return r.tableRuns(ctx, most)
	}
	for s, err := range journal.Runs(r.path) {
		switch {
		case errors.Is(err, fs.ErrNotExist) && r.set.Context.Journal.File.Source.Kind == config.SourceDefault:
			r.log.warnf("there is no journal %q yet: nothing was changed with it", r.path)
			return nil, 0, nil
		case errors.Is(err, fs.ErrNotExist):
			return nil, 0, &usageError{err: err, hint: "check --journal FILE"}
		case err != nil:
			if err := r.problem(err); err != nil {
				return nil, 0, err
			}
		default:
			runs = append(runs, s)
		}
	}
	slices.Reverse(runs)
	// Clocks of one host may be set back; the order of the file is the better one
	// where they say the same.
	slices.SortStableFunc(runs, func(a, b journal.Summary) int { return b.Began.Compare(a.Began) })
	return runs, len(runs), nil
}

func (r *journalReading) tableRuns(ctx context.Context, most int) (runs []journal.Summary, all int, err error) {
	ids, err := r.table.Runs(ctx)
	if err != nil {
		return nil, 0, err
	}
	all = len(ids)
	if most >= 0 {
		ids = ids[:min(all, most)]
	}
	for _, id := range ids {
		for s, err := range journal.Summarize(r.table.Records(ctx, id)) {
			if err != nil {
				if err := r.problem(err); err != nil {
					return nil, 0, err
				}
				continue
			}
			runs = append(runs, s)
		}
	}
	return runs, all, nil
}

// records are those of one run. Damage was reported when the runs were read.
func (r *journalReading) records(ctx context.Context, run string) iter.Seq2[journal.Record, error] {
	if r.table != nil {
		return r.table.Records(ctx, run)
	}
	return func(yield func(journal.Record, error) bool) {
		for rec, err := range journal.Read(r.path) {
			if (err != nil || rec.Run == run) && !yield(rec, err) {
				return
			}
		}
	}
}

// find is the one run that the operator means: last, an ID, or the only one that
// begins so.
func (r *journalReading) find(ctx context.Context, name string) (*journal.Summary, error) {
	runs, err := r.candidates(ctx, name)
	if err != nil {
		return nil, err
	}
	if name == "last" && len(runs) > 0 {
		return &runs[0], nil
	}
	var found []*journal.Summary
	for i := range runs {
		if runs[i].ID == name {
			return &runs[i], nil
		}
		if name != "" && strings.HasPrefix(runs[i].ID, name) {
			found = append(found, &runs[i])
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, &usageError{err: fmt.Errorf("no run %q is in %s", name, r.source.Path+r.source.Table), hint: "idemctl journal list"}
	}
	var ids []string
	for _, s := range found[:min(len(found), 5)] {
		ids = append(ids, s.ID)
	}
	return nil, &usageError{err: fmt.Errorf("%d runs begin with %q", len(found), name), hint: "name one: " + strings.Join(ids, ", ")}
}

// candidates are the runs among which a name is looked for: of a table, which may
// be large, only those it can mean.
func (r *journalReading) candidates(ctx context.Context, name string) ([]journal.Summary, error) {
	if r.table == nil || name == "last" {
		runs, _, err := r.runs(ctx, 1)
		return runs, err
	}
	ids, err := r.table.Runs(ctx)
	if err != nil {
		return nil, err
	}
	var runs []journal.Summary
	for _, id := range ids {
		if name != "" && strings.HasPrefix(id, name) {
			runs = append(runs, journal.Summary{Run: journal.Run{ID: id}})
		}
	}
	if len(runs) == 1 || slices.ContainsFunc(runs, func(s journal.Summary) bool { return s.ID == name }) {
		id := name
		if len(runs) == 1 {
			id = runs[0].ID
		}
		for s, err := range journal.Summarize(r.table.Records(ctx, id)) {
			if err == nil {
				return []journal.Summary{s}, nil
			}
			if err := r.problem(err); err != nil {
				return nil, err
			}
		}
	}
	return runs, nil
}
