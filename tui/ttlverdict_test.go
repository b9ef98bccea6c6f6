package tui

import (
	"testing"
	"time"

	"github.com/idemctl/idemctl/inspect/retry"
	"github.com/idemctl/idemctl/observed"
	"github.com/idemctl/idemctl/reconcile"
)

// A lock is only long enough where something bounds how long its task can live:
// what ttl-calc --all calls unknown, the screen does not call fine.
func TestTTLSaysLongEnoughOnlyWhereLivesAreBounded(t *testing.T) {
	month := retry.SecondsOf(30 * 24 * time.Hour)
	p := retry.DefaultParams()
	p.UniqueTTL = &month
	for name, tt := range map[string]struct {
		facts observed.Facts
		want  reconcile.Severity
		words string
	}{
		"served":    {observed.Facts{Servers: 1}, reconcile.SeverityNone, "long enough"},
		"unserved":  {observed.Facts{}, reconcile.SeverityWarning, "unknown: unserved"},
		"paused":    {observed.Facts{Servers: 1, Paused: true}, reconcile.SeverityWarning, "unknown: paused"},
		"uncounted": {observed.Facts{Servers: 1, Uncounted: 1}, reconcile.SeverityWarning, "unknown: uncounted"},
	} {
		f := tt.facts
		f.Kind = observed.Kind{Type: "mail:send", Queue: "default"}
		s := &ttl{hub: &hub{backend: declaring{p: p}}}
		k := s.kindOf(&f)
		if sev, words := k.verdict(); sev != tt.want || words != tt.words {
			t.Errorf("%s: %s, %q; want %s, %q", name, sev, words, tt.want, tt.words)
		}
	}
}

// declaring is a backend that knows the parameters alone.
type declaring struct {
	Backend
	p retry.Params
}

func (d declaring) Params(string, string) (retry.Params, bool) { return d.p, false }

// The line above a list is drawn before the list, and says how long it is.
func TestTTLCountsTheTypesItIsAboutToDraw(t *testing.T) {
	h := &hub{ctx: t.Context(), backend: declaring{p: retry.DefaultParams()}, opt: Options{Now: time.Now}}
	h.root = h.newDesk()
	h.audit = &Audit{Kinds: []*observed.Facts{{Kind: observed.Kind{Type: "a"}, Tasks: 1}, {Kind: observed.Kind{Type: "b"}, Tasks: 1}}}
	if words := newTTL(h).shown().words; words != "2 types" {
		t.Errorf("the line above two types says %q", words)
	}
}
