package main

import (
	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/config"
)

// outputFlags say how results are presented.
type outputFlags struct {
	format    string
	noHeaders bool
	limit     int
	sort      string
	payload   bool
	// changes says that these are of a plan, which fewer formats can hold.
	changes bool
}

func (o *outputFlags) add(cmd *cobra.Command, defaultLimit string) {
	f := cmd.Flags()
	f.StringVarP(&o.format, "output", "o", "table", "`FORMAT`: table, wide, json, ndjson, csv, markdown, name")
	f.BoolVar(&o.noHeaders, "no-headers", false, "no column titles")
	f.IntVar(&o.limit, "limit", 0, "most lines to print (0: "+defaultLimit+"; -1: all)")
	f.StringVar(&o.sort, "sort", "", "sort by a `COLUMN`, descending with a leading -")
	f.BoolVar(&o.payload, "payload", false, "show payloads")
	f.StringArray("redact", nil, "payload `PATH` to hide in every output; repeatable")
	_ = cmd.RegisterFlagCompletionFunc("output", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var names []string
		for _, f := range render.Formats() {
			names = append(names, string(f))
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
}

// options settles the presentation for this terminal, and checks it.
func (o *outputFlags) options(p *program, s *config.Settings) (render.Options, error) {
	format, err := render.ParseFormat(o.format)
	if err != nil {
		return render.Options{}, usagef("--output: %w", err)
	}
	if err := render.ChangesAs(format); o.changes && err != nil {
		return render.Options{}, usagef("--output: %w", err)
	}
	out := render.Options{
		Connection: p.connection, Same: p.same, Unsaid: p.unsaid,
		Format: format, TTY: p.outTerminal, Width: p.width(),
		Color: p.colour(p.env.LookupEnv, p.shared.noColor), UTC: p.shared.utc,
		NoHeaders: o.noHeaders, Limit: o.limit, Sort: o.sort,
		ShowPayload: o.payload, Now: p.now,
	}
	for _, path := range s.Context.Redact {
		out.Redact = append(out.Redact, path.Value)
	}
	if err := out.Validate(); err != nil {
		return out, usagef("%w", err)
	}
	return out, nil
}
