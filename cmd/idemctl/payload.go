package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/config"
	"github.com/idemctl/idemctl/inspect/payload"
)

func newPayload(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "payload",
		Short: "Say whether equal work has equal payload bytes, and so one lock",
		Long: `asynq derives the lock of a unique task from its queue, its type and the MD5 of
its payload bytes. A blank, another member order or a clock reading is another
lock, and the duplicate passes. These commands say where and why.

Payloads come from files, each one payload (- is standard input); with --lines
each line is one, with --ndjson each line is {"id","type","queue","payload_b64"}
or {"payload": any JSON, taken byte for byte}. Without a file they come from
Redis: -q, -s, -t and -i select the tasks. No ledger is needed.`,
		Example: `  idemctl payload check order.json
  idemctl payload corpus -q default -t 'email:*'
  idemctl payload diff -i 3f0c… -i 77aa…`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPayloadCheck(p), newPayloadCanon(p), newPayloadKey(p), newPayloadDiff(p), newPayloadCorpus(p))
	return cmd
}

// payloadOptions are what all payload commands share: where payloads come from and
// how results are written.
type payloadOptions struct {
	*program
	lines, ndjson bool
	decode        []string
	scope         scopeFlags
	output        outputFlags
	limit         int
}

// add declares the flags. The formats are those of the command, the default first.
func (o *payloadOptions) add(cmd *cobra.Command, formats ...render.Format) {
	connectionFlags(cmd)
	for _, name := range []string{"ledger", "allow-scan", "ledger-timeout"} {
		_ = cmd.Flags().MarkHidden(name) // no ledger is opened
	}
	f := cmd.Flags()
	f.BoolVar(&o.lines, "lines", false, "each line of the input is a payload")
	f.BoolVar(&o.ndjson, "ndjson", false, "each line of the input is a JSON object with a payload")
	f.StringSliceVar(&o.decode, "decode", nil, "`ENCODING` to undo before the rules look: msgpack, base64, gzip, none; repeatable, in order")
	f.StringSliceVarP(&o.scope.queues, "queue", "q", nil, "`QUEUE` to read, name or glob, repeatable; for files, the queue of the lock (default: default)")
	f.StringSliceVarP(&o.scope.types, "type", "t", nil, "task `TYPE` to read, name or glob, repeatable; for files, the type of the lock")
	f.StringSliceVarP(&o.scope.states, "state", "s", nil, "task `STATE` to read: "+strings.Join(stateNames(), ", ")+"; repeatable")
	f.StringArrayVarP(&o.scope.ids, "id", "i", nil, "task `ID` to read; repeatable")
	f.IntVar(&o.limit, "limit", 0, "most payloads to read (0: all)")
	f.Int("page-size", 0, "tasks a page (0: adapt, at most 500)")
	f.Float64("rate", 0, "most tasks a second to read (0: no limit)")
	f.StringArray("redact", nil, "payload `PATH` to hide in every output; repeatable")
	f.StringVarP(&o.output.format, "output", "o", string(formats[0]), "`FORMAT`: "+formatNames(formats, ", "))
	complete := func(names []string) cobra.CompletionFunc {
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return names, cobra.ShellCompDirectiveNoFileComp
		}
	}
	_ = cmd.RegisterFlagCompletionFunc("output", complete(strings.Split(formatNames(formats, "\n"), "\n")))
	_ = cmd.RegisterFlagCompletionFunc("state", complete(stateNames()))
	_ = cmd.RegisterFlagCompletionFunc("decode", complete([]string{"msgpack", "base64", "gzip", "none"}))
}

func formatNames(formats []render.Format, between string) string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = string(f)
	}
	return strings.Join(names, between)
}

// options settles how results are written, in one of the command's formats.
func (o *payloadOptions) options(cmd *cobra.Command, s *config.Settings, formats ...render.Format) (render.Options, error) {
	page, err := o.output.options(o.program, s)
	if err != nil {
		return page, err
	}
	if !slices.Contains(formats, page.Format) {
		return page, &usageError{
			err:  fmt.Errorf("--output %s: payload %s prints %s", page.Format, cmd.Name(), formatNames(formats, ", ")),
			hint: fmt.Sprintf("%s -o %s", cmd.CommandPath(), formats[0]),
		}
	}
	return page, nil
}

// decodings checks --decode.
func (o *payloadOptions) decodings() ([]payload.Decoding, error) {
	steps := make([]payload.Decoding, 0, len(o.decode))
	for _, name := range o.decode {
		step, err := payload.ParseDecoding(strings.TrimSpace(name))
		if err != nil {
			return nil, usagef("--decode: %w", err)
		}
		steps = append(steps, step)
	}
	return steps, nil
}

// readEnd is how the reading ended, as results say it.
func (in *payloadInput) readEnd(err error) render.PayloadEnd {
	e := render.PayloadEnd{Complete: err == nil, Unread: in.unread}
	switch {
	case err == nil:
	case errors.Is(err, context.Canceled):
		e.Problem = "interrupted"
	case errors.Is(err, context.DeadlineExceeded):
		e.Problem = "timed out"
	default:
		e.Problem = err.Error()
	}
	return e
}

// outcome is the exit code of a command that read payloads: err is how the reading
// ended, and found says whether it found what makes the code 1.
func (in *payloadInput) outcome(err error, found bool) error {
	if in.limited {
		in.log.warnf("stopped after %d payloads (--limit)", in.read)
	}
	switch {
	case err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded):
		report(in.err, err)
		return outcome(exitIncomplete)
	case err != nil:
		in.log.warnf("%s after %d payloads: what is printed is incomplete", in.readEnd(err).Problem, in.read)
		return outcome(exitIncomplete)
	case found:
		return outcome(exitFindings)
	case in.unread > 0 && in.read == 0:
		return outcome(exitUsage)
	case in.unread > 0:
		return outcome(exitIncomplete)
	}
	if in.read == 0 {
		in.log.warnf("no payload was read: %s", in.nothing())
	}
	return nil
}
