package journal

import (
	"crypto/sha256"
	"encoding/binary"
)

// itemKey stands for a run and an item. 128 bits of a cryptographic hash, so that
// no result can close another item's intent.
type itemKey [16]byte

func keyOf(run, item string) itemKey {
	b := binary.AppendUvarint(nil, uint64(len(run)))
	b = append(append(b, run...), item...)
	sum := sha256.Sum256(b)
	return itemKey(sum[:16])
}

// pendingState is what is known of an item before a result.
type pendingState uint8

const (
	notPending pendingState = iota
	pendingIntent
	pendingAfterUnknown
)

// pendingItems are the items whose last record is an intent or a result of
// unknown outcome: 24 bytes each, and none for an item that is closed.
type pendingItems map[itemKey]int64 // offset of the intent twice, plus 1 after an unknown outcome

// intent notes an intent and says how its item stood before.
func (p pendingItems) intent(e entry) pendingState {
	key := keyOf(e.Run, e.Item)
	before := p.state(key)
	p[key] = e.offset << 1
	return before
}

// result notes a result and says how its item stood before.
func (p pendingItems) result(e entry) pendingState {
	key := keyOf(e.Run, e.Item)
	before := p.state(key)
	switch {
	case before == notPending:
	case e.Outcome == OutcomeUnknown:
		p[key] |= 1
	default:
		delete(p, key)
	}
	return before
}

func (p pendingItems) state(key itemKey) pendingState {
	at, known := p[key]
	switch {
	case !known:
		return notPending
	case at&1 == 1:
		return pendingAfterUnknown
	}
	return pendingIntent
}
