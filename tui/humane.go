package tui

import (
	"strings"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// humane writes the times in our own words as people count them. Only times that
// are known are looked for: those in an error text stay as they are.
func humane(words string, now time.Time, times ...time.Time) string {
	for _, t := range times {
		if t.IsZero() {
			continue
		}
		is := t.UTC().Format(time.RFC3339)
		if t.After(now) { // "at" and "in" do not go together
			words = strings.NewReplacer("until "+is, "for another "+span(t.Sub(now)), "after "+is, ago(t, now)).Replace(words)
		}
		words = strings.NewReplacer("at "+is, ago(t, now), is, ago(t, now)).Replace(words)
	}
	return words
}

// timesOf are the times that words on a task speak of.
func timesOf(t *inspect.Task) []time.Time {
	return []time.Time{
		t.LastFailedAt, t.NextProcessAt, t.ArchivedAt, t.CompletedAt, t.ExpiresAt, t.GroupedAt, t.PendingSince, t.LeaseExpiresAt, t.Deadline,
	}
}

// findingWords are a finding's message and consequence, safe to show.
func findingWords(f *reconcile.Finding, now time.Time) (message, consequence string) {
	times := append(timesOf(&f.Task), f.AppliedAt, f.SettlesAt, f.ConfirmedAt)
	if f.Lock != nil {
		times = append(times, f.ConfirmedAt.Add(f.Lock.TTL))
	}
	for _, r := range f.Readings {
		times = append(times, r.Row.ClaimedAt)
	}
	return sentence(safe(humane(f.Message(), now, times...))), sentence(safe(humane(f.Consequence(), now, times...)))
}
