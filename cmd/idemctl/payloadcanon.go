package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/inspect/payload"
)

type payloadCanonOptions struct{ payloadOptions }

func newPayloadCanon(p *program) *cobra.Command {
	o := &payloadCanonOptions{payloadOptions{program: p}}
	cmd := &cobra.Command{
		Use:   "canon [FILE]",
		Short: "Write the canonical bytes of a payload",
		Long: `canon writes the canonical form of a payload: RFC 8785 (JCS), but for integers
beyond 2^53, which keep their digits. One payload is written exactly, without a
newline; of several (--lines, --ndjson, Redis) each gets a line, which no
canonical form can hold. On a terminal invisible characters are escaped.

Exit codes: 0 done, 1 a payload has no canonical form (standard error says why),
2 usage or nothing could be read, 3 Redis cannot be read, 4 incomplete.`,
		Example: `  idemctl payload canon order.json | md5sum
  idemctl payload canon --lines payloads.txt > canonical.txt`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), cmd, args) },
	}
	o.add(cmd, canonFormats...)
	return cmd
}

var canonFormats = []render.Format{render.FormatTable, render.FormatJSON, render.FormatNDJSON}

func (o *payloadCanonOptions) run(ctx context.Context, cmd *cobra.Command, args []string) error {
	in, err := o.input(cmd, args)
	if err != nil {
		return err
	}
	page, err := o.options(cmd, in.settings, canonFormats...)
	if err != nil {
		return err
	}
	if len(page.Redact) > 0 {
		return &usageError{
			err:  errors.New("canonical bytes cannot be written while payload fields are hidden (--redact, or redact: in the configuration)"),
			hint: "idemctl payload check shows what is wrong, and idemctl payload key the locks",
		}
	}
	if len(in.files) > 1 && !in.lines && !in.ndjson {
		return &usageError{
			err:  fmt.Errorf("%d files: the canonical bytes of several payloads cannot be told apart", len(in.files)),
			hint: "name one file, or write objects: -o ndjson",
		}
	}
	ctx, cancel := o.bounded(ctx)
	defer cancel()
	undefined := 0
	out := canonWriter{
		w: o.out, format: page.Format, terminal: o.outTerminal,
		lines: len(in.files) == 0 || in.lines || in.ndjson,
	}
	err = in.each(ctx, cmd, func(p *render.Payload) error {
		form, u := canonicalOf(p)
		if u != nil {
			undefined++
			if undefined <= mostFaults {
				report(o.err, undefinedError(p, u))
			}
		}
		if err := out.write(p, form, u); err != nil {
			return &writeError{err}
		}
		return nil
	})
	if undefined > mostFaults {
		fmt.Fprintf(o.err, "idemctl: error: and %d payloads more without a canonical form\n", undefined-mostFaults)
	}
	if err != nil && in.read == 0 {
		return err
	}
	return in.outcome(err, undefined > 0)
}

// canonWriter writes canonical forms.
type canonWriter struct {
	w        io.Writer
	format   render.Format
	terminal bool
	lines    bool // a newline after each
}

func (c *canonWriter) write(p *render.Payload, form []byte, u *payload.UndefinedError) error {
	switch {
	case c.format != render.FormatTable:
		return c.object(p, form, u)
	case u == nil:
		return c.bytes(form)
	default:
		return nil // standard error has it
	}
}

func (c *canonWriter) bytes(form []byte) error {
	switch {
	case c.terminal:
		form = append([]byte(render.VisibleJSON(form)), '\n')
	case c.lines:
		form = append(form[:len(form):len(form)], '\n')
	}
	_, err := c.w.Write(form)
	return err
}

// canonLine is a line of -o ndjson.
type canonLine struct {
	ID           string  `json:"id"`
	CanonicalB64 *[]byte `json:"canonical_b64"` // null: Rule and Message say why
	Rule         *string `json:"rule"`
	Message      *string `json:"message"`
}

func (c *canonWriter) object(p *render.Payload, form []byte, u *payload.UndefinedError) error {
	line := canonLine{ID: p.ID}
	if u != nil {
		rule := u.Rule.String()
		line.Rule, line.Message = &rule, &u.Message
	} else {
		line.CanonicalB64 = &form
	}
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	_, err = c.w.Write(append([]byte(render.VisibleJSON(text)), '\n'))
	return err
}
