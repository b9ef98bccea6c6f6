// Package bench measures what an audit costs: against the loop that a script on
// call would run, and against a floor that reads the same bytes and judges
// nothing. Everything runs against a real redis-server and a real PostgreSQL that
// the benchmarks start, fill and end.
//
// Nothing here passes or fails by time. What is checked is that each variant saw
// every task and came to the verdicts that the seeded data implies: a fast audit
// that miscounts is no result.
//
// Variants run in rounds, one after the other within a round, each in a process
// of its own, so that a neighbour's load falls on all of them and peak memory is
// the variant's alone. docs/performance.md explains the numbers.
package bench
