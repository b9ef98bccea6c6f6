package reconcile

import (
	"github.com/idemctl/idemctl/inspect"
)

// at is the time of the effect, as an insertion; "" when no source says.
func (f *Finding) at() string {
	if f.AppliedAt.IsZero() {
		return ""
	}
	s := " (" + stamp(f.AppliedAt)
	if by := f.Attribution.words(f.Task, f.Key); by != "" && f.Attribution != AttributionBefore {
		s += ", " + by
	}
	return s + ")"
}

// AttributedTo says in words which attempt can have written the row; "" where that
// cannot be told.
func (d *Dossier) AttributedTo() string { return d.Verdict.Attribution.words(d.Task, d.Key) }

func (a Attribution) words(t inspect.Task, key string) string {
	words := ""
	switch a {
	case AttributionLast:
		words = "by the last attempt"
		if t.Retried > 0 { // when the one before it ended, nobody knows
			words = "by the last attempt or one shortly before it"
		}
	case AttributionEarlier:
		words = "by an earlier attempt"
	case AttributionAfter:
		return "after its last failure"
	case AttributionBefore:
		return "before the task was enqueued"
	default:
		return ""
	}
	if ExplicitID(key) && key == t.ID {
		words += ", or an earlier run under this ID"
	}
	return words
}
