package demo

import (
	"fmt"
	"time"

	"github.com/hibiken/asynq"
)

// payloads are what producers write so that equal work gets past its lock. They
// are all scheduled: it is their bytes that the story is about.
func payloads() []*incident {
	all := relayed()
	for _, s := range []struct {
		story, kind string
		texts       []string
	}{
		{"a clock in every digest: three of each, and no lock stopped one", "feed:digest", times(24, digest)},
		{"a batch number that nobody knows the meaning of", "feed:transfer", times(24, transfer)},
		{"one page, from Go and from Node", "feed:page", []string{`{"title":"a\u003cb"}`, `{"title":"a<b"}`}},
		{"two producers with two structs", "feed:stock", []string{`{"sku":"a","left":4}`, `{"left":4,"sku":"b"}`}},
		{"seats in the order of the clicks, and a sum of floats", "feed:seats", times(24, seats)},
		{"omitempty in one of two structs", "feed:note", []string{`{"id":"a","note":null}`, `{"id":"b"}`}},
		{"a number for one, a text for the other", "feed:user", []string{`{"user":"41"}`, `{"user":42}`}},
		{"a name typed on a Mac", "feed:name", []string{"{\"name\":\"Ren\u00e9\"}", "{\"name\":\"Rene\u0301\"}"}},
		{"halfway to MessagePack", "feed:event", []string{`{"id":"a"}`, "\x81\xa2id\xa1b"}},
	} {
		for _, text := range s.texts {
			all = append(all, written(s.story, s.kind, text))
		}
	}
	return all
}

// written is a unique task whose payload is these very bytes.
func written(story, kind, text string) *incident {
	return &incident{
		story: story, kind: kind, text: text,
		options: brief(asynq.Unique(aDay), asynq.ProcessIn(time.Hour)), ends: "scheduled",
	}
}

// relayed are bodies of partners' webhooks, enqueued as they came: one for each
// way of spelling that is a fault.
func relayed() []*incident {
	var all []*incident
	for _, w := range []struct{ story, text string }{
		{"saved by an editor", "\ufeff{\"item\":\"a\"}"},
		{"written in Latin-1", "{\"item\":\"caf\xe9\"}"},
		{"cut in the middle of an emoji", `{"item":"\ud83d"}`},
		{"merged by hand", `{"item":"d","item":"e"}`},
		{"printed by Python", `{"item": "f"}`},
		{"written by an Encoder", "{\"item\":\"g\"}\n"},
		{"an amount from a template", `{"item":"h","amount":19.90}`},
		{"a delta of nothing", `{"item":"i","delta":-0}`},
		{"a rate of seventeen digits", `{"item":"j","rate":0.10000000000000001}`},
		{"a limit beyond all limits", `{"item":"k","limit":1e400}`},
	} {
		all = append(all, written(w.story, "feed:partner", w.text))
	}
	return all
}

// times makes n payloads.
func times(n int, text func(i int) string) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = text(i)
	}
	return texts
}

func digest(i int) string {
	return fmt.Sprintf(`{"user":%d,"sent_at":"2026-11-30T03:12:%02d.%03dZ"}`, i%8, i, 17*i+1)
}

// transfer has a batch that is another one in every payload and looks like nothing.
func transfer(i int) string {
	work := i / 3
	return fmt.Sprintf(`{"from":"%c","to":"%c","batch":"b%c%c"}`, 'a'+work%5, 'p'+work*3%7, 'g'+i/5, 'g'+i%5)
}

// seats are bookings of different halls, but for two that are one twice: with the
// seats in another order, and with another rounding of the sum.
func seats(i int) string {
	switch i {
	case 0:
		return `{"hall":1,"seats":["D4","D5"],"sum":0.3}`
	case 1:
		return `{"hall":2,"seats":["D5","D4"],"sum":0.30000000000000004}`
	}
	return fmt.Sprintf(`{"hall":%d,"seats":["D5","D4"],"sum":0.3}`, i-1)
}
