package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
)

type payloadKeyOptions struct{ payloadOptions }

func newPayloadKey(p *program) *cobra.Command {
	o := &payloadKeyOptions{payloadOptions{program: p}}
	cmd := &cobra.Command{
		Use:   "key [FILE...]",
		Short: "Print the lock that asynq takes for a payload",
		Long: `key prints the Redis key of the uniqueness lock: queue, type and the MD5 of the
payload bytes. Where the payload is not canonical the lock of its canonical form
follows. A payload of zero bytes has two locks: asynq tells nil from empty.

Files do not say their type and queue: --type must, and --queue may.`,
		Example: `  idemctl payload key order.json -t order:sync
  redis-cli PTTL "$(idemctl payload key order.json -t order:sync -o name)"
  idemctl payload key -q default -i 3f0c…`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), cmd, args) },
	}
	o.add(cmd, keyFormats...)
	return cmd
}

var keyFormats = []render.Format{render.FormatTable, render.FormatJSON, render.FormatNDJSON, render.FormatName}

func (o *payloadKeyOptions) run(ctx context.Context, cmd *cobra.Command, args []string) error {
	in, err := o.input(cmd, args)
	if err != nil {
		return err
	}
	page, err := o.options(cmd, in.settings, keyFormats...)
	if err != nil {
		return err
	}
	const hint = "--type TYPE, as in asynq.NewTask"
	if len(in.files) > 0 && !in.ndjson && in.typeOf() == "" {
		return &usageError{err: usagef("the lock is made of queue, type and payload, and %s does not say its type", in.files[0]), hint: hint}
	}
	ctx, cancel := o.bounded(ctx)
	defer cancel()
	out := render.NewPayloadKeys(o.out, page)
	err = in.each(ctx, cmd, func(p *render.Payload) error {
		if p.Type == "" {
			in.read--
			in.fault(p.Name(), usagef("the lock is made of queue, type and payload, and the type is not known"), hint)
			return nil
		}
		form, undefined := canonicalOf(p)
		if err := out.Key(p, form, undefined); err != nil {
			return &writeError{err}
		}
		return nil
	})
	if err != nil && in.read == 0 {
		return err
	}
	return in.outcome(err, false)
}
