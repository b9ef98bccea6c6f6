// Package inspect says what is true in Redis about asynq queues: their tasks in
// all seven states, locks, queues, servers and schedules.
//
// It only reads. Lists are read through asynq.Inspector; what the Inspector
// hides (stored unique keys, pending-since, leases, scores, raw messages,
// undecodable messages) is read beside it with plain commands, a page at a
// time, so that no single command keeps Redis busy for long.
package inspect
