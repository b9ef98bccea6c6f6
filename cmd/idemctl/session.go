package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/config"
	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/pgledger"
	"github.com/idemctl/idemctl/reconcile/sqliteledger"
)

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
