package tui

import (
	"strings"
	"testing"
	"time"
)

const keyNames = "enter open"

func TestNoticeBelongsToTheScreenItWasSaidOn(t *testing.T) {
	for _, keys := range []string{"<enter>", "<esc>", ":locks<enter>"} {
		d := drive(t, newFake())
		d.keys(":archived<enter>@").sees("» idemctl tasks")
		d.keys(keys).lacks("»").sees("? help")
	}
}

func TestNoticeOfAnActStaysOnTheScreenItLedTo(t *testing.T) {
	f := newFake()
	other := newFake()
	other.place.Context = "prod"
	f.others = map[string]*fake{"prod": other}
	drive(t, f).keys(":archived<enter>:ctx prod<enter>").sees("» context prod")
}

func TestKeyTakesAwayANoticeThatCouldBeRead(t *testing.T) {
	d := drive(t, newFake())
	d.keys(":archived<enter>@j").sees("» idemctl tasks")
	d.wait(2 * time.Second).sees("» idemctl tasks")
	d.keys("Z").sees("» idemctl tasks") // a key that does nothing
	d.keys("j").sees(keyNames).lacks("»")
	d.keys("@").wait(3 * time.Second).keys("@").sees("» sent to the terminal's clipboard")
}

func TestNoticeIsShownAsLongAsItTakesToRead(t *testing.T) {
	d := drive(t, newFake())
	d.say("short")
	d.wait(5 * time.Second).sees("» short")
	d.wait(time.Second).lacks("» short")
	d.say(strings.Repeat("words ", 40))
	d.wait(11 * time.Second).sees("» words")
	d.wait(time.Second).lacks("» words")
}

func TestHintsNameNoKeyThatDoesNothing(t *testing.T) {
	d := drive(t, newFake())
	d.send(size(160, 24))
	d.lacks("/ filter", "esc back").sees("? help")
	d.keys(":archived<enter>").sees("/ filter", "esc back")
}
