// Package retry computes how long an asynq task can live: retry policies, when
// each attempt can start, proven bounds and exact quantiles of a lifetime, what
// is left of a task seen in any state, the risk that its uniqueness lock ends
// first, and how long locks and ledger rows have to be kept.
//
// It is pure: no clock, no network, no files. All times are Seconds counted from
// t0, the moment Client.Enqueue ran, unless a field says otherwise; sums of
// delays outgrow time.Duration (137 retries of the default policy are 292 years).
//
// Facts about asynq are those of v0.26.0; each term of a result names the file
// and function it comes from.
package retry
