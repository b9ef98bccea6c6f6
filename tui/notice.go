package tui

import (
	"time"
	"unicode/utf8"
)

// A notice is a line for whoever has just pressed a key. It stands in the place of
// the keys' names, on the screen it was said on and nowhere else, for as long as
// it takes to read; once there was time for a glance, the next key that does
// something takes it away.

const (
	// flashTime is how long a notice is shown at least, and glance how long no key
	// takes it away.
	flashTime = 6 * time.Second
	glance    = 2 * time.Second
	// perSecond is how many characters are read in a second.
	perSecond = 20
)

// say shows a notice.
func (h *hub) say(words string) { h.flash, h.flashAt = words, h.now() }

// hush takes the notice away: it was another screen's.
func (h *hub) hush() { h.flash = "" }

// hushRead takes away a notice that was read, as far as a clock can know.
func (h *hub) hushRead() {
	need := max(flashTime, time.Duration(utf8.RuneCountInString(h.flash))*time.Second/perSecond)
	if h.flash != "" && h.now().Sub(h.flashAt) >= need {
		h.hush()
	}
}

// hushOld takes away the notice of at, if it stands yet and there was time for a
// glance at it.
func (h *hub) hushOld(at time.Time) {
	if h.flashAt.Equal(at) && h.now().Sub(at) >= glance {
		h.hush()
	}
}
