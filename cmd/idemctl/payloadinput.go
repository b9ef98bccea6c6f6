package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/config"
	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/payload"
)

// payloadInput reads payloads one after the other, from files or from Redis. One
// that cannot be read is said on standard error, and the others are read all the
// same.
type payloadInput struct {
	*payloadOptions
	settings *config.Settings
	files    []string // empty: Redis
	states   []inspect.State
	steps    []payload.Decoding
	take     func(*render.Payload) error
	read     int    // payloads
	unread   int    // inputs that could not be read or decoded
	limited  bool   // whether --limit ended the reading
	hinted   string // the latest hint that was printed
	largest  int    // bytes of one payload; more is not read
	silent   bool   // nothing is printed before all is read
}

// errTakenEnough ends the reading early, and without an error.
var errTakenEnough = errors.New("enough payloads")

const (
	// maxPayloadBytes is the largest value that Redis keeps (its proto-max-bulk-len).
	maxPayloadBytes = 512 << 20
	// mostFaults is how many inputs that cannot be read are named one by one.
	mostFaults = 20
)

// input settles where payloads come from. Nothing is opened yet.
func (o *payloadOptions) input(cmd *cobra.Command, args []string) (*payloadInput, error) {
	set, err := o.settings(cmd)
	if err != nil {
		return nil, err
	}
	in := &payloadInput{payloadOptions: o, settings: set, files: args, largest: maxPayloadBytes}
	if in.steps, err = o.decodings(); err != nil {
		return nil, err
	}
	if o.lines && o.ndjson {
		return nil, usagef("--lines and --ndjson exclude each other: a line is a payload, or holds one")
	}
	scope, _, err := o.scope.scope()
	if err != nil {
		return nil, err
	}
	in.states = scope.States
	if (o.lines || o.ndjson) && len(args) == 0 {
		in.files = []string{"-"}
	}
	if len(in.files) > 0 {
		in.onlyGiven(cmd)
		return in, in.checkFiles()
	}
	if !in.redisMeant(cmd) {
		return nil, &usageError{
			err: errors.New("no payload is named"),
			hint: fmt.Sprintf("%[1]s FILE… (- is standard input)\n%[1]s --lines FILE, or --ndjson FILE\n%[1]s -q QUEUE reads the tasks of a queue, -q '*' those of all",
				cmd.CommandPath()),
		}
	}
	return in, nil
}

// redisMeant says whether anything names a Redis or tasks in one. Without a word
// about it, a pipe that was meant to be read would be taken for nothing.
func (in *payloadInput) redisMeant(cmd *cobra.Command) bool {
	s := &in.scope
	if len(s.queues)+len(s.types)+len(s.states)+len(s.ids) > 0 {
		return true
	}
	for _, name := range []string{"uri", "cluster", "cluster-addrs", "context", "config"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			return true
		}
	}
	r := in.settings.Context.Redis
	return r.URI.Source.Kind != config.SourceDefault || len(r.ClusterAddrs.Value)+len(r.SentinelAddrs.Value) > 0
}

// onlyGiven forgets what the environment and the configuration select in Redis.
func (in *payloadInput) onlyGiven(cmd *cobra.Command) {
	s := &in.scope
	for name, value := range map[string]*[]string{"queue": &s.queues, "type": &s.types, "state": &s.states, "id": &s.ids} {
		if !cmd.Flags().Changed(name) {
			*value = nil
		}
	}
	if !cmd.Flags().Changed("limit") {
		in.limit = 0
	}
}

// checkFiles refuses flags that only tasks in Redis have.
func (in *payloadInput) checkFiles() error {
	s := &in.scope
	switch {
	case len(s.states) > 0:
		return usagef("--state selects tasks in Redis, and %s is a file", in.files[0])
	case len(s.ids) > 0:
		return usagef("--id selects tasks in Redis, and %s is a file", in.files[0])
	case len(s.queues) > 1:
		return usagef("--queue names the queue of the lock where payloads come from a file, and there are %d", len(s.queues))
	case len(s.types) > 1:
		return usagef("--type names the type of the lock where payloads come from a file, and there are %d", len(s.types))
	case strings.ContainsAny(strings.Join(s.types, ""), "*?["):
		return usagef("--type %s: a glob selects tasks in Redis, and %s is a file", s.types[0], in.files[0])
	}
	stdin := 0
	for _, name := range in.files {
		if name == "-" {
			stdin++
		}
	}
	if stdin > 1 {
		return usagef("standard input (-) can be read once only")
	}
	return nil
}

// queueOf and typeOf are what the flags say of payloads that do not say it
// themselves.
func (in *payloadInput) queueOf() string {
	if len(in.scope.queues) > 0 {
		return in.scope.queues[0]
	}
	return "default"
}

func (in *payloadInput) typeOf() string {
	if len(in.scope.types) > 0 {
		return in.scope.types[0]
	}
	return ""
}

// each hands every payload to take, which may keep it only by copying it. The
// error is take's, the context's or that of Redis; errTakenEnough is none.
func (in *payloadInput) each(ctx context.Context, cmd *cobra.Command, take func(*render.Payload) error) error {
	in.take = take
	var err error
	if len(in.files) > 0 {
		err = in.eachFile(ctx)
	} else {
		err = in.eachTask(ctx, cmd)
	}
	if in.unread > mostFaults {
		fmt.Fprintf(in.err, "idemctl: error: and %d inputs more that could not be read\n", in.unread-mostFaults)
	}
	if errors.Is(err, errTakenEnough) {
		return nil
	}
	return err
}

// offer decodes a payload and hands it on.
func (in *payloadInput) offer(ctx context.Context, p *render.Payload) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	decoded, err := payload.Decode(p.Raw, in.steps...)
	if err != nil {
		in.fault(p.Name(), err, "without --decode, payload check says what it is")
		return nil
	}
	p.Bytes = decoded
	in.read++
	if err := in.take(p); err != nil {
		return err
	}
	if in.limit > 0 && in.read >= in.limit {
		in.limited = true
		return errTakenEnough
	}
	return nil
}

// fault says which input cannot be read, and why.
func (in *payloadInput) fault(name string, err error, hint string) {
	in.unread++
	if in.unread > mostFaults {
		return
	}
	if hint == in.hinted {
		hint = "" // once is enough
	} else {
		in.hinted = hint
	}
	report(in.err, &usageError{err: fmt.Errorf("%s: %w", name, err), hint: hint})
}

// nothing says where payloads were looked for in vain.
func (in *payloadInput) nothing() string {
	if len(in.files) > 0 {
		return strings.Join(in.files[:min(len(in.files), 3)], ", ") + " holds no line"
	}
	return "are -q, -s, -t and -i as they were meant?"
}
