package main

import (
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/idemctl/idemctl/config"
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
