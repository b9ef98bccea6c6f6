package main

import (
	"bytes"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/inspect/payload"
)

type payloadDiffOptions struct{ payloadOptions }

func newPayloadDiff(p *program) *cobra.Command {
	o := &payloadDiffOptions{payloadOptions{program: p}}
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Say why two payloads have two locks",
		Long: `diff compares two payloads: two files, two tasks (-i A -i B), or the two lines
of a file (--lines, --ndjson). It shows which paths differ in value, and which
only in spelling.

Exit codes, as diff(1) has them: 0 one lock, 1 two locks, whether for the same
work or not, 2 usage or a payload cannot be read, 3 Redis cannot be read.`,
		Example: `  idemctl payload diff a.json b.json
  idemctl payload diff -q default -i 3f0c… -i 77aa… -o json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), cmd, args) },
	}
	o.add(cmd, diffFormats...)
	return cmd
}

var diffFormats = []render.Format{render.FormatTable, render.FormatWide, render.FormatJSON, render.FormatNDJSON}

func (o *payloadDiffOptions) run(ctx context.Context, cmd *cobra.Command, args []string) error {
	in, err := o.input(cmd, args)
	if err != nil {
		return err
	}
	page, err := o.options(cmd, in.settings, diffFormats...)
	if err != nil {
		return err
	}
	ctx, cancel := o.bounded(ctx)
	defer cancel()
	var two []render.Payload
	err = in.each(ctx, cmd, func(p *render.Payload) error {
		if len(two) == 2 {
			two = append(two, *p)
			return errTakenEnough
		}
		two = append(two, keep(p))
		return nil
	})
	switch {
	case err != nil:
		return err
	case in.unread > 0:
		return outcome(exitUsage)
	case len(two) != 2:
		return &usageError{
			err:  fmt.Errorf("diff compares two payloads, and %s", have(len(two))),
			hint: cmd.CommandPath() + " A B, or -i ID -i ID for two tasks (with -q QUEUE where an ID is in several queues)",
		}
	}
	d := render.PayloadDifference{A: two[0], B: two[1], Difference: payload.Diff(two[0].Bytes, two[1].Bytes)}
	d.OneLock = oneLock(&two[0], &two[1])
	if err := render.WritePayloadDifference(o.out, page, &d); err != nil {
		return &writeError{err}
	}
	if !d.OneLock {
		return outcome(exitFindings)
	}
	return nil
}

func have(n int) string {
	switch n {
	case 0:
		return "there is none"
	case 1:
		return "there is one"
	default:
		return "there are more"
	}
}

// keep copies a payload, whose bytes are the reader's.
func keep(p *render.Payload) render.Payload {
	kept := *p
	kept.Raw = bytes.Clone(p.Raw)
	kept.Bytes = kept.Raw
	if len(p.Bytes) != len(p.Raw) || len(p.Raw) > 0 && &p.Bytes[0] != &p.Raw[0] {
		kept.Bytes = bytes.Clone(p.Bytes)
	}
	return kept
}

// oneLock says whether asynq gives both payloads one lock: it is made of the bytes
// as they were enqueued, and of queue and type.
func oneLock(a, b *render.Payload) bool {
	return payload.UniqueKey(a.Queue, a.Type, a.Raw) == payload.UniqueKey(b.Queue, b.Type, b.Raw)
}
