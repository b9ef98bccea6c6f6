package tui

import (
	"strings"

	"github.com/idemctl/idemctl/inspect/retry"
	"github.com/idemctl/idemctl/reconcile"
)

// command is the ttl-calc that answers as the screen does: from what is declared of
// the type, and flags for what tasks carry or keys have changed.
func (s *ttlOne) command() string {
	k := s.kind.Kind
	asks := s.params.QueuePaused || s.params.Unserved || s.contradicted() // which only Redis tells
	// ttl-calc computes for one type by its name; a pattern is for --all.
	named := !strings.ContainsAny(k.Type+k.Queue, `*?[\`)
	if !s.changed() && (s.kind.safe == 0 && len(s.unbounded) == 0 || asks && !named) {
		// Nobody can say, and why not is what --all says.
		return s.lineOf(reconcile.Command("ttl-calc --all").Only("type", k.Type).Only("queue", k.Queue))
	}
	declared, _ := s.backend.Params(k.Type, k.Queue)
	unlocked := s.params.UniqueTTL == nil && declared.UniqueTTL != nil // no flag takes it away
	switch {
	case named && (asks || !unlocked):
		line := reconcile.Command("ttl-calc").Item("type", k.Type).Item("queue", k.Queue)
		if asks {
			line = line.Words("--observed")
		}
		return s.lineOf(s.flags(line, &declared, asks))
	case asks:
		return ""
	}
	p := retry.DefaultParams()
	return s.lineOf(s.flags(reconcile.Command("ttl-calc"), &p, false))
}

// flags adds a flag for every parameter that is not what the command has by itself.
// With observed it would take retries and timeout from tasks, the longest of each.
func (s *ttlOne) flags(line reconcile.CommandLine, itself *retry.Params, observed bool) reconcile.CommandLine {
	for _, k := range knobs {
		text := k.show(&s.params)
		taken := observed && (k.flag == "max-retry" || k.flag == "timeout")
		if text != "" && (taken || text != k.show(itself)) {
			line = line.Flag(k.flag, text)
		}
	}
	if s.params.Period != itself.Period {
		line = line.Flag("period", s.params.Period.String())
	}
	if s.params.IsFailureMayBeFalse && !itself.IsFailureMayBeFalse {
		line = line.Words("--uncounted")
	}
	return line
}
