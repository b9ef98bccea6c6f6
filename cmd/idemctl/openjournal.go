package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/config"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// changeJournal is the journal of a command that changes something, open for
// writing, with its copy.
type changeJournal struct {
	*journal.Journal
	table journalTable // nil: no copy is configured
	log   *logger
}

// openJournal opens the journal that the settings name, with the copy and the
// redaction they ask for. Where it fails, nothing may be changed, and the error
// says so. The caller closes it.
func (p *program) openJournal(ctx context.Context, set *config.Settings, command string) (*changeJournal, error) {
	path, err := journalPath(set)
	if err != nil {
		return nil, err
	}
	redact, err := journalRedaction(set)
	if err != nil {
		return nil, err
	}
	host, _ := os.Hostname()
	opt := journal.Options{Operator: operator(), Host: host, Command: command, Wait: journal.DefaultWait, Redact: redact}
	j := &changeJournal{log: p.log}
	if set.Context.Journal.Ledger.IsSet() {
		if j.table, err = openJournalTable(ctx, set, journalWriter); err != nil {
			return nil, fmt.Errorf("nothing was changed: %w", err)
		}
		opt.Copy = j.table
	}
	if j.Journal, err = journal.Open(ctx, path, opt); err != nil {
		j.closeTable()
		return nil, journalFault(err)
	}
	if torn := j.Torn(); torn != nil {
		p.log.warnf("%v", torn)
	}
	return j, nil
}

// journalFault is why a journal cannot be opened. That its copy cannot be written
// is the ledger's fault and keeps its words.
func journalFault(err error) error {
	var copying *journal.CopyError
	if errors.As(err, &copying) {
		return fmt.Errorf("nothing was changed: %w", err)
	}
	return &usageError{err: err, hint: "nothing was changed: without a journal there is no change (--journal FILE)"}
}

// Close closes the journal, then its copy. That the copy lags is said, and is no
// error: the journal has everything.
func (j *changeJournal) Close() error {
	err := j.Journal.Close()
	if behind := j.Behind(); behind != nil {
		j.log.warnf("%v: the file has everything, and the next change adds what is missing", behind)
	}
	j.closeTable()
	return err
}

func (j *changeJournal) closeTable() {
	if j.table != nil {
		_ = j.table.Close() // what was written is committed
	}
}

// journalFlag names the journal. Its value is read through the settings, which know
// the other places it may come from.
func journalFlag(cmd *cobra.Command) {
	cmd.Flags().String("journal", "", "journal `FILE` (default $XDG_STATE_HOME/idemctl/journal.jsonl)")
}

// journalPath is the file that the settings name.
func journalPath(set *config.Settings) (string, error) {
	if path := set.Context.Journal.File.Value; path != "" {
		return path, nil
	}
	return "", &usageError{err: errors.New("no place for the journal is known: neither XDG_STATE_HOME nor a home is set"), hint: "--journal FILE"}
}

// journalRedaction is what hides payloads before they are written; nil where the
// settings do not ask for it.
func journalRedaction(set *config.Settings) (func(*journal.TaskImage), error) {
	if !set.Context.Journal.Redact.Value {
		return nil, nil //nolint:nilnil // nil is what the journal takes for none
	}
	var paths []string
	for _, path := range set.Context.Redact {
		paths = append(paths, path.Value)
	}
	hide, err := render.NewHider(paths)
	if err != nil {
		return nil, usagef("journal.redact: %w", err)
	}
	return func(t *journal.TaskImage) { hidePayload(t, hide) }, nil
}

// operator is who changes things, for the journal.
func operator() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return os.Getenv("USER")
}
