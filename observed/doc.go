// Package observed gathers what Redis shows of how tasks of one type are
// retried and locked: the delays that workers decided, how long tasks have
// waited and run, which options they and the periodic entries carry, and how
// much of a lock is left. It reads nothing itself: tasks, locks, servers and
// schedules are handed to a Collector.
//
// All of it is what is there at one moment. A task that succeeded at once leaves
// no trace, so that a longest time seen is a lower bound, and no number of
// observations proves a policy. What Redis cannot tell at all is listed by
// Untold.
package observed

// Untold is what no reading of Redis can tell of a type of tasks, in words.
func Untold() []string {
	return []string{
		"RetryDelayFunc itself: only delays that are running now show, one for each task in retry (server.go: Config.RetryDelayFunc)",
		"IsFailure: whether a failure counted once others did (processor.go: handleFailedMessage)",
		"the TTL asked for: a lock shows what is left of it (rdb.go: EnqueueUnique, ScheduleUnique)",
		"how long runs took that are over, and when a task was enqueued (base.go: TaskMessage)",
		"DelayedTaskCheckInterval, ShutdownTimeout and GroupMaxDelay of the servers (server.go: Config)",
	}
}
