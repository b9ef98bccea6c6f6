package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/inspect/payload"
)

type payloadCheckOptions struct {
	payloadOptions
	strict bool
}

func newPayloadCheck(p *program) *cobra.Command {
	o := &payloadCheckOptions{payloadOptions: payloadOptions{program: p}}
	cmd := &cobra.Command{
		Use:   "check [FILE...]",
		Short: "Judge payloads one by one, and show the bytes to change",
		Long: `check applies the rules that need only one payload: how it is spelled, and what
of its values usually differs from enqueue to enqueue. It shows the bytes.

Exit codes: 0 nothing worse than warnings (--strict: than notes), 1 findings,
2 usage or nothing could be read, 3 Redis cannot be read, 4 incomplete.`,
		Example: `  idemctl payload check order.json
  idemctl payload check -q default -t 'payment:*' --strict
  producer --dry-run | idemctl payload check --lines - -o ndjson`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), cmd, args) },
	}
	o.add(cmd, checkFormats...)
	f := cmd.Flags()
	f.BoolVar(&o.strict, "strict", false, "warnings make the exit code 1 too")
	f.BoolVar(&o.output.noHeaders, "no-headers", false, "no column titles")
	return cmd
}

var checkFormats = render.Formats()

func (o *payloadCheckOptions) run(ctx context.Context, cmd *cobra.Command, args []string) error {
	in, err := o.input(cmd, args)
	if err != nil {
		return err
	}
	page, err := o.options(cmd, in.settings, checkFormats...)
	if err != nil {
		return err
	}
	ctx, cancel := o.bounded(ctx)
	defer cancel()
	out := render.NewPayloads(o.out, page)
	err = in.each(ctx, cmd, func(p *render.Payload) error {
		r := payload.Check(p.Bytes)
		out.Judged(p, &r)
		return out.Err()
	})
	if failed := out.Err(); failed != nil {
		return &writeError{failed}
	}
	if err != nil && in.read == 0 {
		return err
	}
	if in.read == 0 && in.unread > 0 {
		return outcome(exitUsage)
	}
	if failed := out.Close(in.readEnd(err)); failed != nil {
		return &writeError{failed}
	}
	return in.outcome(err, out.Worst() >= threshold(o.strict))
}

// threshold is the least severity that makes the exit code 1.
func threshold(strict bool) payload.Severity {
	if strict {
		return payload.Warn
	}
	return payload.Error
}

// canonicalOf is a payload's canonical form, or why it has none.
func canonicalOf(p *render.Payload) ([]byte, *payload.UndefinedError) {
	form, err := payload.Canonical(p.Bytes)
	var undefined *payload.UndefinedError
	if errors.As(err, &undefined) {
		return nil, undefined
	}
	return form, nil
}

// undefinedError says of a payload that it has no canonical form, and what to do.
func undefinedError(p *render.Payload, u *payload.UndefinedError) error {
	return &usageError{err: fmt.Errorf("%s: %w", p.Name(), u), hint: u.Rule.Fix()}
}
