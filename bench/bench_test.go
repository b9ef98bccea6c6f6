package bench

import (
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

const (
	hundredThousand = 100_000
	million         = 1_000_000

	ledgerSize = 1_000_000
	// slowSample is how many tasks naive goes through on the slow line, where
	// all of them would take minutes.
	slowSample = 3000
	// feltSample is how many it goes through while others are watched.
	feltSample = 20_000
)

// contender is a variant in an incident.
type contender struct {
	variant  variant
	incident incident
}

func (c contender) String() string {
	if c.variant == audit {
		return fmt.Sprintf("%s/%s", c.variant, c.incident)
	}
	return string(c.variant)
}

// contenders run in every round. What the ledger holds makes no difference to any
// but the audit, so the others run in the quiet incident only.
var contenders = []contender{
	{audit, quiet},
	{audit, half},
	{listPlain, quiet},
	{listScripts, quiet},
	{naive, quiet},
	{floor, quiet},
}

// stores are a filled Redis and a filled ledger for each incident.
type stores struct {
	dataset
	redis   *inspecttest.Server
	ledgers map[incident]*reconciletest.Database
	truths  map[incident]truth
}

func (d dataset) fill(b *testing.B, incidents ...incident) *stores {
	b.Helper()
	s := &stores{
		dataset: d, redis: d.fillRedis(b),
		ledgers: map[incident]*reconciletest.Database{}, truths: map[incident]truth{},
	}
	for _, m := range incidents {
		s.truths[m] = d.truth(m)
		s.ledgers[m] = d.fillLedger(b, m, s.truths[m].Applied, ledgerSize)
	}
	return s
}

// path is how a client reaches the stores.
type path struct {
	name     string
	takers   []contender // who runs over it
	redis    string
	postgres map[incident]string // DSN
	sample   int                 // for naive
}

func (s *stores) loopback() path {
	p := path{name: "loopback", takers: contenders, redis: s.redis.Addr, postgres: map[incident]string{}}
	for m, db := range s.ledgers {
		p.postgres[m] = db.DSN
	}
	return p
}

// slowPath leaves out the listing through scripts, which waits for the line most
// of the time: half a minute of it tells nothing more.
func (s *stores) slowPath(b *testing.B) path {
	b.Helper()
	p := path{name: "1ms", redis: slowLine(b, s.redis.Addr), postgres: map[incident]string{}, sample: slowSample}
	for _, c := range contenders {
		if c.variant != listScripts {
			p.takers = append(p.takers, c)
		}
	}
	for m, db := range s.ledgers {
		dsn, err := url.Parse(db.DSN)
		must(b, err)
		dsn.Host = slowLine(b, dsn.Host)
		p.postgres[m] = dsn.String()
	}
	return p
}

// run runs a contender once over the path, with the processor time it took.
func (s *stores) run(b *testing.B, c contender, p path) result {
	b.Helper()
	db := s.ledgers[c.incident]
	before := serverCPU(b, s.redis, db)
	r := s.launch(b, c, p)
	after := serverCPU(b, s.redis, db)
	r.cpu.redis, r.cpu.postgres = after.redis-before.redis, after.postgres-before.postgres
	if r.Tasks < s.size { // a sample: what all would have taken
		scale := float64(s.size) / float64(r.Tasks)
		r.Took, r.cpu = time.Duration(float64(r.Took)*scale), r.cpu.scaled(scale)
	}
	return r
}

// launch runs a contender once over the path and checks what it saw.
func (s *stores) launch(b *testing.B, c contender, p path) result {
	b.Helper()
	j := job{Variant: c.variant, Redis: p.redis, Postgres: p.postgres[c.incident], Tasks: s.size}
	if c.variant == naive {
		j.Sample = p.sample
	}
	if chosen.profile != "" {
		name := fmt.Sprintf("%s-%s-%s-%d.pprof", p.name, c.variant, c.incident, s.size)
		j.Profile = filepath.Join(chosen.profile, name)
	}
	r := j.run(b)
	s.check(b, c, j, r.work)
	return r
}

// check fails the benchmark when the contender did not see what there is.
func (s *stores) check(b *testing.B, c contender, j job, got work) {
	b.Helper()
	want := s.truths[c.incident]
	switch c.variant {
	case audit:
		if !maps.Equal(got.ByCode, want.ByCode) {
			b.Fatalf("%s found %v, want %v", c, got.ByCode, want.ByCode)
		}
	case listPlain, listScripts:
		want.Applied = 0
	case naive:
		if j.Sample > 0 { // each state's share is rounded down
			want.Tasks = max(got.Tasks, j.Sample-len(states))
			want.Applied = got.Applied
		}
	}
	if got.Tasks != want.Tasks || got.Applied != want.Applied {
		b.Fatalf("%s saw %d tasks, %d of them applied, want %d and %d", c, got.Tasks, got.Applied, want.Tasks, want.Applied)
	}
}

// BenchmarkAudit measures everything that 100,000 tasks can tell, and then how an
// audit's memory grows to 1,000,000.
func BenchmarkAudit(b *testing.B) {
	s := dataset{size: hundredThousand, began: time.Now().Truncate(time.Second)}.fill(b, quiet, half)
	summary.begin(s.size)
	b.Run("loopback", func(b *testing.B) { s.race(b, s.loopback()) })
	b.Run("1ms", func(b *testing.B) {
		p := s.slowPath(b)
		summary.trip = roundTripOf(b, p.redis)
		s.race(b, p)
	})
	b.Run("felt", s.bother)
	if chosen.million {
		b.Run("million", s.grow)
	}
	summary.end()
}

// race runs all contenders in rounds and reports the medians.
func (s *stores) race(b *testing.B, p path) {
	results := map[contender][]result{}
	for round := range chosen.rounds {
		for i := range p.takers {
			// Nobody is always the first.
			c := p.takers[(i+round)%len(p.takers)]
			results[c] = append(results[c], s.run(b, c, p))
		}
	}
	for _, c := range p.takers {
		row := newRow(c, s.size, results)
		summary.add(p.name, row)
		b.Run(c.String(), row.report)
	}
}

// roundTripOf is the median time of a PING.
func roundTripOf(b *testing.B, addr string) time.Duration {
	b.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: addr, Protocol: 2})
	defer rdb.Close()
	var took []time.Duration
	for range 100 {
		began := time.Now()
		must(b, rdb.Ping(b.Context()).Err())
		took = append(took, time.Since(began))
	}
	return median(took)
}

// bother runs the contenders again while others use the same Redis, and first
// lets the others be alone.
func (s *stores) bother(b *testing.B) {
	p := s.loopback()
	p.sample = feltSample
	seen := map[string][]felt{}
	for range chosen.rounds {
		seen["nobody"] = append(seen["nobody"], watch(b, s.redis, func() { time.Sleep(time.Second) }))
		for _, c := range contenders {
			seen[c.String()] = append(seen[c.String()], watch(b, s.redis, func() { s.launch(b, c, p) }))
		}
	}
	names := []string{"nobody"}
	for _, c := range contenders {
		names = append(names, c.String())
	}
	for _, name := range names {
		f := merged(seen[name])
		summary.felt = append(summary.felt, feltRow{name, f})
		b.Run(name, f.report)
	}
}

// grow audits the dataset and one of 1,000,000 tasks beside it, in the quiet
// incident.
func (s *stores) grow(b *testing.B) {
	c := contender{audit, quiet}
	var peaks []int
	for range chosen.rounds {
		peaks = append(peaks, s.run(b, c, s.loopback()).Peak)
	}
	large := dataset{size: million, began: time.Now().Truncate(time.Second)}.fill(b, quiet)
	r := large.run(b, c, large.loopback()) // once: it takes a while
	summary.growth = growth{from: median(peaks), to: r.Peak, took: r.Took}
	b.Run(c.String(), summary.growth.report)
}
