package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// oldestRedis is what asynq's archive script needs: ZRANGE … BYSCORE (asynq
// rdb.go: archiveCmd). On older servers archiving stops half-way.
var oldestRedis = []int{6, 2}

// clockLimits are the differences between two clocks at which verdicts on time
// become doubtful, and at which asynq's own recoverer errs (recoverer.go allows
// 30 s).
const (
	clockDoubt = 5 * time.Second
	clockFault = 30 * time.Second
)

// redis checks the server. It leaves the session's client open.
func (d *doctor) redis(ctx context.Context, s *session) {
	client, err := inspect.Open(ctx, redisOptions(d.settings.Context.Redis, 0))
	if err != nil {
		d.fault("redis", err)
		return
	}
	s.queue = client
	f, err := client.Redis(ctx)
	if err != nil {
		d.fault("redis", err)
		return
	}
	who := ""
	if f.User != "" {
		who = " as user " + f.User
	}
	d.add("redis", healthOK, "", "connected to %s (%s)%s", f.Addr, f.Mode, who)
	d.redisVersion(f)
	d.eviction(f)
	switch f.Role {
	case "replica", "slave":
		d.add("redis role", healthWarning, "connect to the master: a replica may be behind, and what it lacks proves nothing", "this is a replica")
	case "":
		d.add("redis role", healthUnknown, "", "not visible to this user")
	default:
		d.add("redis role", healthOK, "", "%s", f.Role)
	}
	d.queues(ctx, client)
	d.clock(ctx, "redis clock", func() (time.Time, error) { return client.Now(ctx) })
}

func (d *doctor) redisVersion(f inspect.RedisFacts) {
	name := "Redis"
	if f.Valkey {
		name = "Valkey"
	}
	switch {
	case f.Version == "":
		d.add("redis version", healthUnknown, "allow INFO to this user to see it", "not visible to this user")
	case !f.Valkey && olderThan(f.Version, oldestRedis):
		d.add("redis version", healthError, "upgrade to Redis 6.2 or later",
			"%s %s: asynq's archive script needs 6.2, and breaks half-way here", name, f.Version)
	default:
		d.add("redis version", healthOK, "", "%s %s", name, f.Version)
	}
}

// olderThan compares dotted versions by their first numbers.
func olderThan(version string, least []int) bool {
	parts := strings.Split(version, ".")
	for i, want := range least {
		have := 0
		if i < len(parts) {
			have, _ = strconv.Atoi(parts[i])
		}
		if have != want {
			return have < want
		}
	}
	return false
}

// eviction checks what Redis does when its memory is full.
func (d *doctor) eviction(f inspect.RedisFacts) {
	const hint = "CONFIG SET maxmemory-policy noeviction"
	switch policy := f.MaxmemoryPolicy; {
	case policy == "":
		d.add("redis memory", healthUnknown, "allow INFO to this user to see it", "maxmemory-policy is not visible to this user")
	case policy == "noeviction":
		d.add("redis memory", healthOK, "", "maxmemory-policy noeviction")
	case strings.HasPrefix(policy, "volatile-"):
		d.add("redis memory", healthError, hint,
			"maxmemory-policy %s: uniqueness locks are the first keys it drops%s", policy, evicted(f))
	default:
		d.add("redis memory", healthError, hint,
			"maxmemory-policy %s: it drops tasks and leaves their IDs behind%s", policy, evicted(f))
	}
}

func evicted(f inspect.RedisFacts) string {
	if f.EvictedKeys == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d keys dropped so far)", f.EvictedKeys)
}

// queues checks that they can be read, and whether anyone serves them.
func (d *doctor) queues(ctx context.Context, client *inspect.Client) {
	names, err := client.Queues(ctx)
	if err != nil {
		d.fault("queues", err)
		return
	}
	if len(names) == 0 {
		d.add("queues", healthWarning, "is this the right server and database (--uri, --db)?", "Redis knows no queue")
		return
	}
	servers, err := client.Servers(ctx)
	if err != nil {
		d.fault("queues", err)
		return
	}
	var unserved []string
	for _, q := range names {
		serves := func(s inspect.Server) bool {
			_, ok := s.Queues[q]
			return ok && s.Status == "active"
		}
		if !slices.ContainsFunc(servers, serves) {
			unserved = append(unserved, q)
		}
		if _, err := client.Queue(ctx, q); err != nil {
			d.fault("queue "+q, err)
		}
	}
	d.add("queues", healthOK, "", "%s, %s", plural(len(names), "queue"), plural(len(servers), "live server"))
	if len(unserved) > 0 {
		d.add("queues", healthWarning, "start a server for them: nothing there is run, retried or recovered",
			"no live server serves %s", strings.Join(unserved, ", "))
	}
}

// clock compares a clock with this machine's.
func (d *doctor) clock(ctx context.Context, subject string, read func() (time.Time, error)) {
	before := time.Now()
	there, err := read()
	if err != nil {
		if ctx.Err() == nil {
			d.fault(subject, err)
		}
		return
	}
	trip := time.Since(before)
	offset := there.Sub(before.Add(trip / 2)).Round(time.Millisecond)
	apart := max(offset, -offset)
	switch {
	case apart >= clockFault:
		d.add(subject, healthError, "synchronise the clocks (NTP)", "%s from this machine's: more than asynq's recoverer allows for", offset)
	case apart > clockDoubt:
		d.add(subject, healthWarning, "synchronise the clocks (NTP)", "%s from this machine's", offset)
	default:
		d.add(subject, healthOK, "", "%s from this machine's", offset)
	}
}

// ledger checks one database.
func (d *doctor) ledger(ctx context.Context, name string, l reconcile.Ledger) {
	subject := "ledger " + name
	f, err := l.Facts(ctx)
	if err != nil {
		d.fault(subject, err)
		return
	}
	who := ""
	if f.User != "" {
		who = " as " + f.User
	}
	d.kinds[name] = f.Kind
	d.add(subject, healthOK, "", "%s %s at %s%s", f.Kind, f.Version, f.Server, who)
	if f.Replica {
		d.add(subject, healthWarning, "connect to the primary: on a replica no absence can be proven, and such verdicts are unknown",
			"this is a replica")
	}
	d.clock(ctx, "ledger clock", func() (time.Time, error) {
		f, err := l.Facts(ctx)
		return f.Now, err
	})
}

// rules checks every rule's sources.
func (d *doctor) rules(ctx context.Context, s *session) {
	s.rules = rulesOf(d.settings.Context.Rules)
	rules := s.rules
	if rules == nil && s.fallback != "" {
		rules = []reconcile.Rule{reconcile.ImplicitRule(s.fallback)}
	}
	for i, r := range rules {
		subject := fmt.Sprintf("rule %d", i+1)
		if r.Implicit {
			subject = "default rule"
		}
		if _, err := reconcile.Bind(i+1, r); err != nil {
			d.fault(subject, s.place(err))
			continue
		}
		switch {
		case len(r.Sources) > 0:
		case r.Class.Natural():
			d.add(subject, healthOK, "", "%s: %s repeats without harm, and names no source", ruleText(r), r.Class)
		default:
			d.add(subject, healthWarning, "name the table that holds its marks or effects",
				"%s: names no source, so nothing stops a second effect", ruleText(r))
		}
		for _, src := range r.Sources {
			d.source(ctx, subject, r, src, s.ledgers[src.Ledger])
		}
	}
}

func ruleText(r reconcile.Rule) string {
	if r.Type == "" {
		return "type *"
	}
	return "type " + r.Type
}

// source checks one table and column.
func (d *doctor) source(ctx context.Context, subject string, r reconcile.Rule, src reconcile.Source, l reconcile.Ledger) {
	if l == nil {
		return // its ledger's own check said why
	}
	lookup, err := l.Prepare(ctx, []reconcile.Source{src})
	if err != nil {
		d.fault(subject, err)
		return
	}
	d.writers(ctx, src.Ledger, lookup)
	f := lookup.Sources()[0]
	where := fmt.Sprintf("%s: %s %s.%s (%s)", ruleText(r), src.Role, f.Table, f.Column, f.ColumnType)
	switch {
	case src.Role == reconcile.RoleInbox || r.Class.Natural():
		d.add(subject, healthOK, "", "%s", where)
	case f.Unique == reconcile.UniqueYes:
		d.add(subject, healthOK, "", "%s, unique", where)
	case f.Unique == reconcile.UniquePrefix && r.MaxEffects > 1:
		d.add(subject, healthOK, "", "%s, unique together with more columns", where)
	case f.Unique == reconcile.UniqueUnknown:
		d.add(subject, healthUnknown, "", "%s: a view, nobody can say whether it is unique", where)
	default:
		d.add(subject, healthWarning, d.uniqueIndex(src.Ledger, f),
			"%s: the database would accept a second row of one key (%s)", where, f.NotUnique)
	}
}

// writers checks, once for each ledger, whether other sessions' transactions can
// be seen: one that still writes keeps an absence from being believed.
func (d *doctor) writers(ctx context.Context, ledger string, lookup reconcile.Lookup) {
	if d.asked[ledger] {
		return
	}
	d.asked[ledger] = true
	w, err := lookup.Writers(ctx, time.Now())
	switch {
	case err != nil:
		d.fault("ledger "+ledger, err)
	case w.Visible:
		d.add("ledger "+ledger, healthOK, "", "other sessions' open transactions are visible")
	case d.kinds[ledger] == "postgres":
		d.add("ledger "+ledger, healthUnknown, "GRANT pg_monitor to the role of the ledger's DSN",
			"other sessions' open transactions are not visible: the settle time alone bounds them")
	default:
		d.add("ledger "+ledger, healthUnknown, "", "other sessions' open transactions are not visible: the settle time alone bounds them")
	}
}

// uniqueIndex is the statement that would stop a second row.
func (d *doctor) uniqueIndex(ledger string, f reconcile.SourceFacts) string {
	if d.kinds[ledger] == "postgres" {
		return fmt.Sprintf("CREATE UNIQUE INDEX CONCURRENTLY ON %s (%s)", f.Table, f.Column)
	}
	return fmt.Sprintf("CREATE UNIQUE INDEX %s_once ON %s (%s)", f.Column, f.Table, f.Column)
}
