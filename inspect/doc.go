// Package inspect says what is true in Redis about asynq queues: their tasks in
// all seven states, locks, queues, servers and schedules.
//
// It reads, and changes nothing but by the calls that return a Change, each of
// which does nothing unless the world is as its caller has read it. There are
// two ways to list tasks, which show the same. One goes through asynq.Inspector,
// whose scripts read a page at a time, and reads beside it what the Inspector
// hides: stored unique keys, pending-since, leases, scores, tasks without a hash
// and messages that cannot be decoded. The other reads IDs first and then each
// task's hash, by plain commands of a few microseconds each; it needs no scripts,
// and knows the stored message. Either way no single command keeps Redis busy for
// long.
//
// What a queue holds may have been written by anybody: nothing in it makes a
// listing fail, and keys that a message names are asked for only if they are
// asynq's.
package inspect
