package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/demo"
)

func newDemo(p *program) *cobra.Command {
	var keep bool
	var options demo.Options
	cmd := &cobra.Command{
		Use:   "demo [COMMAND...]",
		Short: "Run a command (default: audit) in a laboratory that needs nothing",
		Long: `demo starts an in-process Redis, a SQLite ledger in a temporary folder, and real
asynq workers that fail in every way that matters; then it runs the given
command on them. Nothing is left behind. With --keep it stays, and says how to
connect from another shell.`,
		Example: `  idemctl demo
  idemctl demo audit -o json
  idemctl demo tasks -s archived
  idemctl demo --keep`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.runDemo(cmd.Context(), cmd, args, options, keep)
		},
	}
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().BoolVar(&options.FullArchive, "full-archive", false, "add a queue whose archive is nearly full (9,000 tasks)")
	cmd.Flags().BoolVar(&keep, "keep", false, "stay until interrupted, and say how to connect from another shell")
	return cmd
}

func (p *program) runDemo(ctx context.Context, cmd *cobra.Command, args []string, options demo.Options, keep bool) (err error) {
	if len(args) > 0 && args[0] == "demo" {
		return usagef("demo cannot run itself")
	}
	options.Mended = len(args) > 0 && changesTasks(args[0])
	lab, err := demo.Open(ctx, options)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := lab.Close(); closeErr != nil && err == nil {
			err = closeErr
		}
	}()
	if !p.shared.quiet {
		fmt.Fprintf(p.err, "idemctl: a laboratory with %d tasks: in-process Redis at %s, %s\n", lab.Tasks, lab.Redis, lab.Ledger)
	}
	if len(args) == 0 {
		args = []string{"audit"}
	}
	env := laboratory(p.env, lab.Config)
	code := 0
	if len(args) == 1 && args[0] == "requeue" {
		code = p.tellRequeue(ctx, p.sharedArgs(cmd), env, lab.Rest)
	} else {
		code = execute(ctx, append(p.sharedArgs(cmd), args...), p.streams, env)
	}
	if keep && ctx.Err() == nil {
		p.keepDemo(ctx, lab)
	}
	return outcome(code)
}

// changesTasks says whether the command runs tasks again: the laboratory's
// handlers have been mended by then.
func changesTasks(command string) bool {
	switch command {
	case "requeue", "resolve", "apply", "journal", "tui", "browse":
		return true
	}
	return false
}

// sharedArgs hands the shared flags that demo was given to the command it runs.
func (p *program) sharedArgs(cmd *cobra.Command) []string {
	var args []string
	for _, name := range []string{"no-color", "utc", "quiet", "verbose", "log-file", "timeout"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			args = append(args, "--"+name+"="+f.Value.String())
		}
	}
	return args
}

// keepDemo says how to connect, and stays until it is interrupted.
func (p *program) keepDemo(ctx context.Context, lab *demo.Lab) {
	var b strings.Builder
	fmt.Fprintf(&b, "\nThe laboratory stays until Ctrl-C. From another shell:\n")
	fmt.Fprintf(&b, "  idemctl audit --config %s\n", lab.Config)
	fmt.Fprintf(&b, "  redis-cli -u redis://%s\n", lab.Redis)
	fmt.Fprintf(&b, "  sqlite3 %s\n", strings.TrimPrefix(lab.Ledger, "sqlite:"))
	fmt.Fprint(p.err, b.String())
	<-ctx.Done()
}
