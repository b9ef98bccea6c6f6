package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/config"
	"github.com/idemctl/idemctl/reconcile"
)

func newDoctor(p *program) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check connections, versions, permissions, schema and clocks",
		Long: `doctor checks everything an audit rests on, and goes on after what fails.

Exit codes: 0 all is well, 1 something is wrong or doubtful, 2 configuration,
3 a source cannot be reached.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			set, err := p.settings(cmd)
			if err != nil {
				return err
			}
			if format != "table" && format != "json" {
				return usagef("--output %s: doctor prints table or json", format)
			}
			ctx, cancel := p.bounded(cmd.Context())
			defer cancel()
			d := &doctor{
				program: p, cmd: cmd, settings: set,
				asked: map[string]bool{}, kinds: map[string]string{},
			}
			d.examine(ctx)
			if err := d.print(format); err == nil || ctx.Err() == nil {
				return err
			}
			return outcome(exitIncomplete) // interrupted or timed out: the rest was not looked at
		},
	}
	connectionFlags(cmd)
	cmd.Flags().StringVarP(&format, "output", "o", "table", "`FORMAT`: table or json")
	return cmd
}

// health is how one check came out.
type health string

const (
	healthOK      health = "ok"
	healthWarning health = "warning"
	healthError   health = "error"
	healthUnknown health = "unknown" // could not be seen; not a fault by itself
)

// check is one thing that was looked at.
type check struct {
	Subject string `json:"subject"`
	Health  health `json:"health"`
	Text    string `json:"text"`
	Hint    string `json:"hint,omitempty"`
}

// doctor gathers checks.
type doctor struct {
	*program
	cmd      *cobra.Command
	settings *config.Settings
	checks   []check
	away     bool              // a source could not be reached
	misuse   bool              // a source was named wrongly
	asked    map[string]bool   // ledgers whose open transactions were asked for
	kinds    map[string]string // of the ledgers that answered
}

func (d *doctor) add(subject string, h health, hint, format string, args ...any) {
	d.checks = append(d.checks, check{Subject: subject, Health: h, Text: fmt.Sprintf(format, args...), Hint: hint})
}

// fault adds an error with its hint.
func (d *doctor) fault(subject string, err error) {
	d.add(subject, healthError, strings.Join(hints(err), " "), "%v", err)
	switch exitCode(err) {
	case exitUsage:
		d.misuse = true
	case exitSource:
		d.away = d.away || sourceAway(err)
	}
}

// sourceAway says whether an error means that a source cannot be reached or
// lacks what is asked for, as opposed to something to be mended in it.
func sourceAway(err error) bool {
	var ledger *reconcile.LedgerError
	if errors.As(err, &ledger) {
		return ledger.Kind != reconcile.LedgerNoIndex
	}
	return true
}

func (d *doctor) examine(ctx context.Context) {
	c := d.settings.Context
	if d.settings.File == "" {
		d.add("config", healthOK, "", "no configuration file; flags, environment and defaults apply")
	} else {
		d.add("config", healthOK, "", "%s, context %q, %d rules", d.settings.File, c.Name.Value, len(c.Rules))
	}
	for _, w := range d.settings.Warnings {
		d.add("config", healthWarning, "", "%s", w)
	}
	s := &session{settings: d.settings, ledgers: map[string]reconcile.Ledger{}}
	defer s.close()
	d.redis(ctx, s)
	if err := s.checkLedgers(); err != nil {
		d.fault("ledger", err)
	}
	for _, l := range c.Ledgers {
		ledger, err := openLedger(ctx, d.cmd, l)
		if err != nil {
			d.fault("ledger "+l.Name.Value, err)
			continue
		}
		s.ledgers[l.Name.Value] = ledger
		d.ledger(ctx, l.Name.Value, ledger)
	}
	d.rules(ctx, s)
}

// print shows the checks and gives the outcome.
func (d *doctor) print(format string) error {
	worst := exitDone
	for _, c := range d.checks {
		if c.Health == healthError || c.Health == healthWarning {
			worst = exitFindings
		}
	}
	if d.misuse {
		worst = exitUsage
	}
	if d.away {
		worst = exitSource
	}
	if format == "json" {
		enc := json.NewEncoder(d.out)
		enc.SetIndent("", "  ")
		if err := enc.Encode(map[string]any{"schema": "idemctl.doctor/v1", "checks": d.checks}); err != nil {
			return err
		}
	} else {
		for _, c := range d.checks {
			fmt.Fprintf(d.out, "%s %-18s %s\n", sign(c.Health), render.Visible(c.Subject), render.Visible(c.Text))
			if c.Hint != "" {
				fmt.Fprintf(d.out, "  %-18s → %s\n", "", render.Visible(c.Hint))
			}
		}
	}
	if worst != exitDone {
		return outcome(worst)
	}
	return nil
}

// sign is a letter beside which colour is not needed.
func sign(h health) string {
	switch h {
	case healthOK:
		return "✓"
	case healthWarning:
		return "!"
	case healthError:
		return "✗"
	}
	return "?"
}
