package payload

import (
	"crypto/md5"
	"encoding/hex"
)

// UniqueKey is the Redis key of the uniqueness lock that asynq takes for a task
// of that type and payload in that queue (asynq internal/base/base.go,
// UniqueKey). A nil payload and an empty one have different keys: nil leaves the
// checksum out.
func UniqueKey(queue, taskType string, payload []byte) string {
	prefix := "asynq:{" + queue + "}:unique:" + taskType + ":"
	if payload == nil {
		return prefix
	}
	sum := md5.Sum(payload)
	return prefix + hex.EncodeToString(sum[:])
}
