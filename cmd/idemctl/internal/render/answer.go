package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/idemctl/idemctl/reconcile"
)

// WriteAnswer says whether an enqueue would be refused.
func WriteAnswer(w io.Writer, o Options, a *reconcile.Answer) error {
	b := newBase(w, o.filled())
	switch b.opt.Format {
	case FormatTable:
		return b.answerText(a)
	case FormatJSON:
		line, err := marshal(shapeWhy(a))
		if err != nil {
			return err
		}
		if b.opt.TTY {
			line = indent(line, "")
		}
		_, err = w.Write(append(line, '\n'))
		return err
	case FormatNDJSON:
		return writeLine(w, shapeWhy(a))
	}
	return fmt.Errorf("an answer cannot be written as %s (use table or json)", b.opt.Format)
}

func (b *base) answerText(a *reconcile.Answer) error {
	p := newPage(b.w, b.opt)
	p.verdict([]verdict{answerVerdict(a)})
	for i := range a.Refusals {
		p.refusal(&a.Refusals[i])
	}
	p.blank()
	if a.LockKey != "" {
		p.fact("lock", Visible(a.LockKey))
	}
	p.fact("queue", joined(Visible(a.Queue), answerQueue(a)))
	if len(a.Elsewhere) > 0 {
		var names []string
		for _, ref := range a.Elsewhere {
			names = append(names, refWords(ref))
		}
		p.fact("elsewhere", "the same content is under way in another queue, which no lock of this one sees: "+strings.Join(names, ", "))
	}
	return p.flush()
}

func answerVerdict(a *reconcile.Answer) verdict {
	if !a.Refused() {
		what := "An enqueue would be accepted now: its lock is free."
		switch {
		case a.IDOnly:
			what = "An enqueue would be accepted now: its task ID is free."
		case a.ID != "":
			what = "An enqueue would be accepted now: its lock and its task ID are free."
		}
		return verdict{text: what}
	}
	first := a.Refusals[0]
	text := "A unique enqueue would be refused now (" + first.Barrier.Error() + "): its lock is held."
	if first.Barrier == reconcile.BarrierTaskID {
		text = "An enqueue would be refused now (" + first.Barrier.Error() + "): its task ID is taken."
	}
	return verdict{severity: reconcile.SeverityWarning, text: text}
}

func answerQueue(a *reconcile.Answer) string {
	switch {
	case !a.Known:
		return "asynq does not know it yet"
	case a.Paused:
		return "paused"
	case !a.Served:
		return "no live server"
	}
	return ""
}

func (p *page) refusal(f *reconcile.Refusal) {
	title := "HELD BY THE LOCK"
	if f.Barrier == reconcile.BarrierTaskID {
		title = "HELD BY THE TASK ID"
	}
	p.title(title, "")
	state := "gone"
	if s := stateOrNull(&f.Finding); s != nil {
		state = *s
	}
	p.fact("task", joined(refWords(f.Task.Ref), Visible(f.Task.Type), state))
	if f.Code != reconcile.CodeLockOrphaned {
		effect := f.Status.String()
		if why := f.Reason.Words(); why != "" {
			effect += ": " + why
		}
		p.fact("effect", p.effect(effect))
		p.fact("applied", p.moment(f.AppliedAt))
		p.fact("failed", p.moment(f.Task.LastFailedAt))
		if f.Task.LastErr != "" {
			p.fact("error", fit(Visible(f.Task.LastErr), maxDossierPayload))
		}
	}
	times := append(taskTimes(&f.Task), f.ConfirmedAt, f.Until)
	if f.Lock != nil {
		times = append(times, f.ConfirmedAt.Add(f.Lock.TTL))
	}
	p.fact("ends", sentence(Visible(p.relative(f.Why, times))))
	if f.Detail != "" {
		p.fact("because", Visible(f.Detail))
	}
	p.fact("next", sentence(Visible(f.Next)))
	if f.Command != "" {
		p.command("  ", f.Command)
	}
}
