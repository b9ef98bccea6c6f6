package reconcile

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"
	"time"
)

// evidence is a digest of what a move rests on: the task's state, counters, last
// failure, archiving, stored message (its payload in it) and own lock; its key,
// the status of that and when it was applied; and whoever else holds the lock. A
// lock that the task held and that ran out since is no change: nobody else's work
// hangs on it.
//
// It is SHA-256 over the values, each with its length in front of it, in hex.
func (a *Archived) evidence() string {
	t, v := a.Task, a.Verdict
	d := digest{sha256.New()}
	d.text(t.Queue, t.ID, t.Type, t.State.String(), t.UniqueKey, a.Key, v.Status.String())
	d.text(string(t.Digest[:]))
	d.text(strconv.Itoa(t.Retried), strconv.Itoa(t.MaxRetry))
	d.time(t.LastFailedAt, t.ArchivedAt, t.CompletedAt, v.AppliedAt)
	owner := ""
	if a.Lock != nil && a.Lock.State == LockTaken {
		owner = a.Lock.Owner
	}
	d.text(owner)
	return "sha256:" + hex.EncodeToString(d.Sum(nil))
}

// digest hashes values so that no two lists of them look alike.
type digest struct{ hash.Hash }

func (d digest) text(values ...string) {
	for _, v := range values {
		d.Write(strconv.AppendInt(nil, int64(len(v)), 10))
		d.Write([]byte{':'})
		d.Write([]byte(v))
	}
}

func (d digest) time(values ...time.Time) {
	for _, v := range values {
		text := ""
		if !v.IsZero() {
			text = v.UTC().Format(time.RFC3339Nano)
		}
		d.text(text)
	}
}
