package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/config"
	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/pgledger"
	"github.com/idemctl/idemctl/reconcile/sqliteledger"
)

// connectionFlags say how to reach Redis and the ledgers. Their values are read
// through package config, which knows the other places they may come from.
func connectionFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringP("uri", "u", "", "Redis `URI`: host:port, redis://, rediss://, unix://, redis-sentinel://, redis-cluster://")
	f.IntP("db", "n", 0, "Redis database `NUMBER`")
	f.StringP("password", "p", "", "Redis `PASSWORD` (better: ${ENV} or file:PATH)")
	f.StringP("username", "U", "", "Redis ACL `USER`")
	f.Bool("cluster", false, "connect to a Redis Cluster")
	f.StringSlice("cluster-addrs", nil, "`ADDRS` of cluster nodes, host:port")
	f.Bool("tls", false, "connect to Redis with TLS")
	f.String("tls-server", "", "`NAME` the server's certificate must bear")
	f.Bool("insecure", false, "accept any certificate")
	f.StringArray("ledger", nil, "ledger `DSN` or NAME=DSN: postgres://…, sqlite:FILE; repeatable")
	f.Bool("allow-scan", false, "read ledger tables that no index serves, by sequential scan")
	f.Duration("ledger-timeout", 30*time.Second, "longest time one ledger statement may take")
}

// loadFlags bound what is asked of Redis and the ledgers.
func loadFlags(cmd *cobra.Command) {
	pageFlags(cmd)
	cmd.Flags().Float64("rate", 0, "most tasks a second to read (0: no limit)")
}

// pageFlags are loadFlags for commands whose --rate is that of changes.
func pageFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Int("page-size", 0, "tasks a page (0: adapt, at most 500)")
	f.Int("concurrency", 4, "ledger lookups in flight")
}

// settings settles every value by precedence, and hands the flags that the
// environment or the file set to the command.
func (p *program) settings(cmd *cobra.Command) (*config.Settings, error) {
	given := config.Flags{}
	p.connection = nil
	cmd.Flags().Visit(func(f *pflag.Flag) {
		given[f.Name] = flagValues(f)
		if saysWhere(f.Name) {
			p.connection = append(p.connection, "--"+f.Name)
		}
	})
	p.same, p.unsaid = repeated(cmd, p.connection)
	s, err := config.Resolve(p.env, config.Request{Flags: given, Known: allFlags(cmd.Root())})
	if err != nil {
		return nil, err
	}
	for name, value := range s.Context.Flags {
		f := cmd.Flags().Lookup(name)
		if f == nil {
			continue // another command's
		}
		for _, v := range value.Value {
			if f.Value.Type() == moveRate && value.Source.Kind == config.SourceFile && !slower(v, f.Value.String()) {
				continue // it bounds what is read: changes become slower by it, never faster
			}
			if err := f.Value.Set(v); err != nil {
				return nil, usagef("%s: invalid value %q for --%s: %w", value.Source, v, f.Name, expected(f, err))
			}
			if err := cmd.Flags().SetAnnotation(f.Name, setElsewhere, []string{value.Source.String()}); err != nil {
				return nil, err
			}
		}
	}
	if err := checkBounds(cmd); err != nil {
		return nil, err
	}
	if err := p.log.open(p.shared); err != nil {
		return nil, err
	}
	for _, w := range s.Warnings {
		p.log.warnf("%s", w)
	}
	if s.File != "" {
		p.log.debugf("configuration %s, context %q", s.File, s.Context.Name.Value)
	}
	return s, nil
}

// setElsewhere marks a flag that has its value from the environment or the file. It
// is no less in force than one that was typed.
const setElsewhere = "idemctl/set-elsewhere"

// wasSet says whether a flag was given, or set elsewhere.
func wasSet(f *pflag.Flag) bool { return f.Changed || len(f.Annotations[setElsewhere]) > 0 }

// saysWhere says whether the flag is one of those that name the servers.
func saysWhere(flag string) bool {
	switch flag {
	case "journal", "uri", "db", "password", "username", "cluster", "cluster-addrs", "tls", "tls-server", "insecure", "ledger", "config", "context":
		return true
	}
	return false
}

// bounds are what numeric flags may be. NaN is in none.
var bounds = map[string][2]float64{
	"concurrency": {1, 64}, "page-size": {0, 5000}, "rate": {0, 1e9}, "limit": {-1, 1e9}, "db": {0, 1e6},
}

// checkBounds refuses numbers and times that make no sense.
func checkBounds(cmd *cobra.Command) (err error) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if b, ok := bounds[f.Name]; ok && err == nil {
			n, parseErr := strconv.ParseFloat(f.Value.String(), 64)
			if parseErr != nil || !(n >= b[0] && n <= b[1]) {
				err = usagef("--%s %s: expected a number from %.0f to %.0f", f.Name, f.Value, b[0], b[1])
			}
		}
		if d, parseErr := time.ParseDuration(f.Value.String()); f.Value.Type() == "duration" && parseErr == nil && d < 0 && err == nil {
			err = usagef("--%s %s: expected a time that is not negative", f.Name, f.Value)
		}
	})
	return err
}

// flagValues is what an operator gave for a flag, in order.
func flagValues(f *pflag.Flag) []string {
	if many, ok := f.Value.(pflag.SliceValue); ok {
		return many.GetSlice()
	}
	return []string{f.Value.String()}
}

// allFlags are the names of all flags of all commands.
func allFlags(root *cobra.Command) []string {
	var names []string
	note := func(f *pflag.Flag) {
		switch f.Name {
		case "help", "version", "force", "keep", "file":
			// Of one call only.
		default:
			names = append(names, f.Name)
		}
	}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(note)
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	slices.Sort(names)
	return slices.Compact(names)
}

// session is one open Redis with its ledgers.
type session struct {
	settings *config.Settings
	queue    *inspect.Client
	ledgers  map[string]reconcile.Ledger
	rules    []reconcile.Rule // nil: the implicit one
	fallback string           // name of the ledger for sources that name none

	identity *inspect.Identity // of Redis; nil: nobody asked yet
}

// server says which Redis this is. It is asked once.
func (s *session) server(ctx context.Context) (inspect.Identity, error) {
	if s.identity == nil {
		id, err := s.queue.Identity(ctx)
		if err != nil {
			return id, err
		}
		s.identity = &id
	}
	return *s.identity, nil
}

// open connects to Redis and every ledger. The caller closes the session.
func (p *program) open(ctx context.Context, cmd *cobra.Command) (*session, error) {
	set, err := p.settings(cmd)
	if err != nil {
		return nil, err
	}
	return p.connect(ctx, cmd, set, true)
}

// openBare is open for commands that are of use without a ledger: then every
// effect is unknown.
func (p *program) openBare(ctx context.Context, cmd *cobra.Command) (*session, error) {
	set, err := p.settings(cmd)
	if err != nil {
		return nil, err
	}
	return p.connect(ctx, cmd, set, false)
}

// connect opens what the settings name.
func (p *program) connect(ctx context.Context, cmd *cobra.Command, set *config.Settings, needsLedger bool) (*session, error) {
	s := &session{settings: set, ledgers: map[string]reconcile.Ledger{}}
	bare := !needsLedger && len(set.Context.Ledgers)+len(set.Context.Rules) == 0
	if err := s.checkLedgers(); err != nil && !bare {
		return nil, err
	}
	s.rules = rulesOf(set.Context.Rules)
	if bare {
		s.rules = []reconcile.Rule{} // and not the implicit one, which needs a ledger
	}
	for n, r := range s.rules {
		if err := bindRule(n+1, r); err != nil {
			return nil, s.place(err)
		}
	}
	if err := s.openRedis(ctx, cmd); err != nil {
		return nil, err
	}
	for _, l := range set.Context.Ledgers {
		ledger, err := openLedger(ctx, cmd, l)
		if err != nil {
			s.close()
			return nil, err
		}
		s.ledgers[l.Name.Value] = ledger
	}
	return s, nil
}

// checkLedgers makes sure that there is something to join with.
func (s *session) checkLedgers() error {
	c := s.settings.Context
	switch {
	case len(c.Ledgers) > 0:
		s.fallback = c.Ledgers[0].Name.Value
	case len(c.Rules) == 0:
		return &usageError{
			err:  fmt.Errorf("no ledger is configured, so there is nothing to join the queues with"),
			hint: "--ledger postgres://user@host/database (or sqlite:FILE), or: idemctl config init",
		}
	}
	if len(c.Ledgers) > 1 && len(c.Rules) == 0 {
		return &usageError{
			err:  fmt.Errorf("%d ledgers and no rule that says which holds the marks", len(c.Ledgers)),
			hint: "give one --ledger, or write rules: idemctl config init",
		}
	}
	return nil
}

func (s *session) openRedis(ctx context.Context, cmd *cobra.Command) error {
	rate, _ := cmd.Flags().GetFloat64("rate")
	client, err := inspect.Open(ctx, redisOptions(s.settings.Context.Redis, rate))
	if err != nil {
		return err
	}
	s.queue = client
	return nil
}

// redisOptions turns settled values into inspect's options.
func redisOptions(r config.Redis, rate float64) inspect.Options {
	o := inspect.Options{
		URI:      r.URI.Value.Reveal(),
		Username: r.Username.Value, Password: r.Password.Value.Reveal(), DB: r.DB.Value,
		Cluster: r.Cluster.Value, ClusterAddrs: r.ClusterAddrs.Value,
		SentinelMaster:   r.SentinelMaster.Value,
		SentinelUsername: r.SentinelUsername.Value, SentinelPassword: r.SentinelPassword.Value.Reveal(),
		TLS: r.TLS.Value, TLSServer: r.TLSServer.Value, Insecure: r.Insecure.Value,
		CAFile: r.TLSCA.Value, CertFile: r.TLSCert.Value, KeyFile: r.TLSKey.Value,
		Rate: rate,
	}
	if len(r.SentinelAddrs.Value) > 0 {
		o.URI = "redis-sentinel://" + strings.Join(r.SentinelAddrs.Value, ",")
	}
	return o
}

// openLedger opens the kind of ledger that the DSN names.
func openLedger(ctx context.Context, cmd *cobra.Command, l config.Ledger) (reconcile.Ledger, error) {
	scan, _ := cmd.Flags().GetBool("allow-scan")
	timeout, _ := cmd.Flags().GetDuration("ledger-timeout")
	name, dsn := l.Name.Value, l.DSN.Value.Reveal()
	switch scheme, _, _ := strings.Cut(dsn, ":"); scheme {
	case "sqlite", "sqlite3":
		return sqliteledger.Open(ctx, sqliteledger.Options{Name: name, DSN: dsn, Timeout: timeout, AllowScan: scan})
	case "mysql", "mariadb":
		return nil, &usageError{
			err:  fmt.Errorf("ledger %s (%s): MySQL cannot be read yet", name, l.DSN.Source),
			hint: "PostgreSQL (postgres://…) and SQLite (sqlite:FILE) can",
		}
	}
	return pgledger.Open(ctx, pgledger.Options{Name: name, DSN: dsn, Timeout: timeout, AllowScan: scan})
}

func (s *session) close() {
	for _, l := range s.ledgers {
		_ = l.Close() // only reads were done
	}
	if s.queue != nil {
		_ = s.queue.Close()
	}
}

// auditor puts the session's parts together. An error in a rule says where the
// rule stands.
func (s *session) auditor(o reconcile.Options) (*reconcile.Auditor, error) {
	o.Rules, o.Ledgers, o.DefaultLedger = s.rules, s.ledgers, s.fallback
	c := s.settings.Context
	o.Settle, o.ConfirmAfter = c.Settle.Value, c.ConfirmAfter.Value
	var err error
	if o.Hidden, err = s.hidden(); err != nil {
		return nil, err
	}
	a, err := reconcile.NewAuditor(s.queue, o)
	if err != nil {
		return nil, s.place(err)
	}
	return a, nil
}

// hidden says which fields no output may show.
func (s *session) hidden() (func(reconcile.Field) bool, error) { return hiddenFields(s.settings) }

func hiddenFields(set *config.Settings) (func(reconcile.Field) bool, error) {
	var paths []string
	for _, path := range set.Context.Redact {
		paths = append(paths, path.Value)
	}
	hidden, err := render.KeysHidden(paths)
	if err != nil {
		return nil, usagef("%w", err)
	}
	return hidden, nil
}

// hiddenKeys says of which types, by queue, no output may show the keys: those that
// the rules make of hidden fields, and where a type is not known all of a queue's
// that has such a rule. Nil hides none.
func hiddenKeys(set *config.Settings) (func(taskType, queue string) bool, error) {
	hidden, err := hiddenFields(set)
	if err != nil || hidden == nil {
		return nil, err
	}
	var rules []*reconcile.Bound
	for i, r := range rulesOf(set.Context.Rules) {
		b, err := reconcile.Bind(i+1, r)
		if err != nil {
			return nil, usagef("%w", err)
		}
		rules = append(rules, b)
	}
	return func(taskType, queue string) bool {
		for _, b := range rules {
			switch {
			case taskType == "" && b.KeyReads(hidden):
				return true
			case taskType != "" && b.Matches(taskType, queue):
				return b.KeyReads(hidden)
			}
		}
		return false
	}, nil
}
