package tui

import (
	"strings"
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
	drifted := observed.Facts{Servers: 1, Delays: []observed.Delay{{Count: 2, Min: 10 * time.Minute, Max: 10 * time.Minute}}}
	for name, tt := range map[string]struct {
		facts observed.Facts
		want  reconcile.Severity
		words string
	}{
		"drifted":   {drifted, reconcile.SeverityWarning, "unknown: delays contradict"},
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

// Other retries or another timeout make no bound proven while the delays that were
// seen refute the policy; the true policy does.
func TestTTLProvesNothingUnderARefutedPolicy(t *testing.T) {
	p := retry.DefaultParams()
	p.MaxRetry = 5
	h := &hub{ctx: t.Context(), backend: declaring{Backend: &fake{}, p: p}, opt: Options{Now: time.Now}}
	h.root = h.newDesk()
	list := &ttl{hub: h}
	s := newTTLKind(h, list.kindOf(&observed.Facts{
		Kind: observed.Kind{Type: "mail:send", Queue: "low"}, Servers: 1,
		Delays: []observed.Delay{{Count: 2, Min: 10 * time.Minute, Max: 10 * time.Minute}},
	}))
	said := func() string {
		s.compute()
		w := &writer{theme: &s.theme, width: 200}
		s.words(w)
		return strings.Join(w.lines, "\n")
	}
	unproven := func(when string) {
		t.Helper()
		if out := said(); strings.Contains(out, "proven") || !strings.Contains(strings.ToLower(out), "nobody can say") || !strings.Contains(out, "contradict the policy default") {
			t.Errorf("%s: %q", when, out)
		}
	}
	unproven("as declared")
	s.params.MaxRetry = 6
	unproven("with another retry")
	if line := s.command(); !strings.Contains(line, "--observed") {
		t.Errorf("%q answers without what the screen knows", line)
	}
	s.params.Delay, _ = retry.Parse("fixed(10m)")
	if out := said(); !strings.Contains(out, "proven") {
		t.Errorf("with the true policy: %q", out)
	}
}
