package journal

import (
	"crypto/rand"
	"encoding/hex"
	"time"
)

// Run is one command that changes things.
type Run struct {
	// ID is "" to have Begin make one.
	ID string
	// Context is the configuration's; Command what was typed, without secrets;
	// Reason what the operator gave.
	Context, Command, Reason string
	// PlanDigest is that of the plan being applied; "" when there is none.
	PlanDigest string
	// Server names the Redis that is changed; "" where nobody says.
	Server string
	// Planned is how many items the run is to make; 0 where nobody says.
	Planned int
}

// NewRunID makes an ID such as 20261130T154501Z-1f0c3a9b7e: the time in UTC, by
// which IDs sort, then 40 random bits.
func NewRunID(now time.Time) string {
	var salt [5]byte
	_, _ = rand.Read(salt[:]) // never fails: crypto/rand ends the program instead
	return now.UTC().Format("20060102T150405Z") + "-" + hex.EncodeToString(salt[:])
}
