package inspect

import (
	"crypto/md5"
	"encoding/hex"
	"strings"
)

// asynq's key layout (internal/base/base.go). A queue's keys hold its name in a
// hash tag, so that in a cluster one queue is one slot. The hash tag ends at the
// first brace: a name that holds one spreads over slots by its first part, which
// changes nothing here as no command names keys of two queues.
const (
	keyQueues     = "asynq:queues"     // SET of queue names
	keyServers    = "asynq:servers"    // ZSET of server keys by expiry
	keyWorkers    = "asynq:workers"    // ZSET of worker hash keys by expiry
	keySchedulers = "asynq:schedulers" // ZSET of scheduler entry lists by expiry
)

// keys are the keys of one queue.
type keys struct {
	prefix string // asynq:{queue}:
}

func keysOf(queue string) keys {
	return keys{prefix: "asynq:{" + queue + "}:"}
}

func (k keys) taskPrefix() string      { return k.prefix + "t:" }
func (k keys) task(id string) string   { return k.prefix + "t:" + id }
func (k keys) groupPrefix() string     { return k.prefix + "g:" }
func (k keys) group(g string) string   { return k.prefix + "g:" + g }
func (k keys) groups() string          { return k.prefix + "groups" }
func (k keys) aggregationSets() string { return k.prefix + "aggregation_sets" }
func (k keys) lease() string           { return k.prefix + "lease" }
func (k keys) paused() string          { return k.prefix + "paused" }

// of is the list or sorted set of a state, whose key asynq names after it. An
// aggregating task is in a group instead.
func (k keys) of(s State) string { return k.prefix + s.String() }

// TaskKey is the key of a task's hash (internal/base/base.go: TaskKey).
func TaskKey(r Ref) string { return keysOf(r.Queue).task(r.ID) }

// ArchiveKey is the key of a queue's archive (internal/base/base.go: ArchivedKey).
func ArchiveKey(queue string) string { return keysOf(queue).of(StateArchived) }

// UniqueKey is the uniqueness lock that asynq gives a task of this type and
// payload (internal/base/base.go: UniqueKey). A nil payload and an empty one
// have different locks. Headers, options and the task ID play no part.
func UniqueKey(queue, taskType string, payload []byte) string {
	key := keysOf(queue).prefix + "unique:" + taskType + ":"
	if payload == nil {
		return key
	}
	sum := md5.Sum(payload)
	return key + hex.EncodeToString(sum[:])
}

// owns says whether the key is one of the queue's groups or aggregation sets. A
// set's key is itself data, so a command is sent to it only if it is; another
// would go to another slot.
func (k keys) owns(set string) bool {
	return strings.HasPrefix(set, k.groupPrefix())
}

// isQueueKey says whether the key belongs to some queue.
func isQueueKey(key string) bool {
	return strings.HasPrefix(key, "asynq:{")
}
