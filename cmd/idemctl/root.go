package main

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/idemctl/idemctl/config"
)

// program is what every command is given: the ways in and out, the machine's
// environment, and the flags all commands share.
type program struct {
	*streams
	env    config.Environment
	shared sharedFlags
	log    *logger
	// connection names the flags of this call that say what to connect to.
	connection []string
	// same are those of them that hold no secret, as a command takes them; unsaid names
	// the others.
	same   string
	unsaid []string
	// answers are the lines that are typed, read ahead as they come: what was read
	// with one answer may be the next.
	answers *bufio.Reader
}

// sharedFlags mean the same in every command that has them.
type sharedFlags struct {
	noColor bool
	utc     bool
	quiet   bool
	verbose bool
	logFile string
	timeout time.Duration
}

// systemEnvironment is this machine's.
func systemEnvironment() config.Environment { return config.Machine() }

// run is the whole program but for os.Exit, so that deferred work is done and
// tests can call it. It never panics on bad input.
func run(args []string, s *streams, env config.Environment) int {
	if _, set := env.LookupEnv("GOGC"); !set {
		debug.SetGCPercent(memoryPercent)
	}
	ctx, stop := interruptible(context.Background())
	defer stop()
	return execute(ctx, args, s, env)
}

// memoryPercent is how much garbage may lie about beside what is in use: an audit
// of 100,000 tasks, half of them findings, then stays below 64 MiB for about 8 %
// more CPU than at Go's default of 100.
const memoryPercent = 60

// execute runs one command line under ctx.
func execute(ctx context.Context, args []string, s *streams, env config.Environment) int {
	results := &stickyWriter{w: s.out}
	own := *s
	own.out = results
	s = &own
	p := &program{streams: s, env: env, log: &logger{w: s.err}}
	root := newRoot(p)
	root.SetArgs(args)
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	err := root.ExecuteContext(ctx)
	p.log.close()
	if results.err != nil {
		err = &writeError{results.err}
	}
	report(s.err, err)
	return exitCode(err)
}

// interruptible is a context that the first interrupt ends, which is its cause; the
// second one ends the program at once.
func interruptible(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, stopSignals...)
	done := make(chan struct{})
	go func() {
		select {
		case s := <-signals:
			cancel(signalled{s})
		case <-done:
			return
		}
		select {
		case <-signals:
			os.Exit(exitIncomplete) //nolint:revive // a second interrupt ends at once, whatever hangs
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}

func newRoot(p *program) *cobra.Command {
	root := &cobra.Command{
		Use:   "idemctl",
		Short: "Say which asynq tasks really took effect, and act on it safely",
		Long: `idemctl joins asynq's queues (Redis) with the ledger of what their handlers did
(rows such as processed_tasks.task_id in PostgreSQL or SQLite), and says which
tasks lie: archived as failed although the money moved, kept as done although
nothing was written. It reads only, but for the commands that change something:
those show a plan, ask, and keep a journal.`,
		Example: `  idemctl demo
  idemctl audit --uri redis://127.0.0.1:6379 --ledger postgres://app@127.0.0.1/app
  idemctl explain default 3f0c…`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       versionText(),
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			if p.browses(cmd) {
				return p.browse(cmd)
			}
			cmd.SetOut(p.out)
			return cmd.Help()
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usageError{err: plainFlagError(err), hint: cmd.CommandPath() + " --help"}
	})
	root.SetGlobalNormalizationFunc(dashes)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", ".FlagUsagesWrapped 80"))
	root.CompletionOptions.HiddenDefaultCmd = false
	flags := root.PersistentFlags()
	flags.String("config", "", "configuration `FILE` (default $XDG_CONFIG_HOME/idemctl/config.yaml)")
	flags.String("context", "", "`NAME` of the configuration context to use")
	flags.BoolVar(&p.shared.noColor, "no-color", false, "no colours (also NO_COLOR)")
	flags.BoolVar(&p.shared.utc, "utc", false, "show times in UTC on a terminal too")
	flags.BoolVar(&p.shared.quiet, "quiet", false, "no progress and no warnings on standard error")
	flags.BoolVarP(&p.shared.verbose, "verbose", "v", false, "say on standard error what is done")
	flags.StringVar(&p.shared.logFile, "log-file", "", "write the log to `FILE` instead of standard error")
	flags.DurationVar(&p.shared.timeout, "timeout", 0, "stop after this time and say what is known, e.g. 30s (0: no limit)")
	root.AddCommand(
		newAudit(p), newTasks(p), newExplain(p), newLocks(p), newIntegrity(p), newRequeue(p), newResolve(p), newApply(p), newPayload(p), newTTLCalc(p), newTUI(p), newLedger(p), newJournal(p), newDoctor(p), newConfig(p), newDemo(p), newVersion(p),
	)
	return root
}

// dashes lets every flag be written with _ for -, as asynq's own command line
// does in --cluster_addrs.
func dashes(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	return pflag.NormalizedName(strings.ReplaceAll(name, "_", "-"))
}

// unknownCommand names the commands that were meant.
func unknownCommand(cmd *cobra.Command, typed string) error {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	meant := strings.Join(nearest(typed, names, 1), "")
	for _, c := range cmd.Commands() { // journal resume is meant by resume, and not requeue
		for _, sub := range c.Commands() {
			if sub.Name() == typed && sub.IsAvailableCommand() && c.IsAvailableCommand() {
				meant = c.Name() + " " + typed
			}
		}
	}
	return &usageError{
		err:  errors.New("unknown command " + maskedArgument(strings.TrimSpace(typed))),
		hint: "did you mean " + meant + "? All commands: idemctl --help",
	}
}

// noArgs refuses arguments, with a hint that names them.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.HasSubCommands() {
		return unknownCommand(cmd, args[0])
	}
	hint := cmd.CommandPath() + " --help"
	if f := cmd.Flags().Lookup("watch"); f != nil && f.Changed {
		hint = "an interval is written --watch=" + args[0]
	}
	return &usageError{err: errors.New("unexpected argument " + maskedArgument(args[0])), hint: hint}
}

// maskedArgument hides the password of an address that was typed where none
// belongs.
func maskedArgument(arg string) string {
	if strings.Contains(arg, "://") {
		return config.Mask(arg)
	}
	return arg
}

// exactArgs wants the named arguments.
func exactArgs(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		return &usageError{
			err:  errors.New("expected " + strings.Join(names, " and ")),
			hint: cmd.CommandPath() + " " + strings.Join(names, " "),
		}
	}
}

// Set by the release build; a plain build has the module's own facts.
var (
	version = ""
	commit  = ""
	date    = ""
)

// versionText is the version with what the build knows of itself.
func versionText() string {
	v, c, d := version, commit, date
	if info, ok := debug.ReadBuildInfo(); ok {
		if v == "" {
			v = info.Main.Version
		}
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision" && c == "":
				c = s.Value
			case s.Key == "vcs.time" && d == "":
				d = s.Value
			}
		}
	}
	if v == "" || v == "(devel)" {
		v = "devel"
	}
	if c != "" {
		v += " (" + c[:min(12, len(c))]
		if d != "" {
			v += ", " + d
		}
		v += ")"
	}
	return v
}

func newVersion(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := p.out.Write([]byte("idemctl " + versionText() + "\n"))
			return err
		},
	}
}
