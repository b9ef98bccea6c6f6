package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/inspect/payload"
)

type payloadCorpusOptions struct {
	payloadOptions
	strict bool
}

func newPayloadCorpus(p *program) *cobra.Command {
	o := &payloadCorpusOptions{payloadOptions: payloadOptions{program: p}}
	cmd := &cobra.Command{
		Use:   "corpus [FILE...]",
		Short: "Say which fields vary although the work is the same",
		Long: `corpus reads the payloads of each queue and type together and says which fields
differ although the work is the same, which works hold several locks already,
and where producers disagree. Statistics need 20 payloads; 100 or more are
better. What is not JSON is counted and not looked into: --decode what can be
decoded.

Exit codes: 0 nothing worse than warnings (--strict: than notes), 1 findings,
2 usage or nothing could be read, 3 Redis cannot be read, 4 incomplete.`,
		Example: `  idemctl payload corpus -q default
  idemctl payload corpus --lines payloads.txt
  idemctl payload corpus --ndjson dump.ndjson -o json | jq .volatile`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), cmd, args) },
	}
	o.add(cmd, corpusFormats...)
	cmd.Flags().BoolVar(&o.strict, "strict", false, "warnings make the exit code 1 too")
	return cmd
}

var corpusFormats = []render.Format{
	render.FormatTable, render.FormatWide, render.FormatJSON, render.FormatNDJSON, render.FormatMarkdown,
}

func (o *payloadCorpusOptions) run(ctx context.Context, cmd *cobra.Command, args []string) error {
	in, err := o.input(cmd, args)
	if err != nil {
		return err
	}
	in.silent = true
	page, err := o.options(cmd, in.settings, corpusFormats...)
	if err != nil {
		return err
	}
	ctx, cancel := o.bounded(ctx)
	defer cancel()
	var corpus payload.Corpus
	err = in.each(ctx, cmd, func(p *render.Payload) error {
		corpus.Add(payload.Entry{ID: p.ID, Queue: p.Queue, Type: p.Type, Payload: p.Bytes})
		return nil
	})
	if err != nil && in.read == 0 {
		return err
	}
	if in.read == 0 && in.unread > 0 {
		return outcome(exitUsage)
	}
	reports := corpus.Result()
	if failed := render.WriteCorpus(o.out, page, reports, in.readEnd(err)); failed != nil {
		return &writeError{failed}
	}
	worst := payload.SeverityUnknown
	for _, r := range reports {
		for _, f := range r.Findings {
			worst = max(worst, f.Severity())
		}
	}
	return in.outcome(err, worst >= threshold(o.strict))
}
