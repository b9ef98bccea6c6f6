package retry

import "fmt"

// Advice is a TTL for asynq.Unique that outlives the task.
type Advice struct {
	// Safe is the proven bound in whole seconds: nothing shorter is proven.
	Safe Seconds
	// Recommended is Safe plus a margin (the larger of 1 % and a minute) for
	// Redis latency and clocks, rounded up to what a person would write.
	Recommended Seconds
	// Go is the option to write, such as "asynq.Unique(22 * 24 * time.Hour)"; ""
	// when no time.Duration is long enough.
	Go       string
	Warnings []Warning
}

// Advise computes the TTL to use. It is only as good as the bound: look at
// Params.Unbounded first.
func (p Params) Advise() (Advice, error) {
	m, err := p.model()
	if err != nil {
		return Advice{}, err
	}
	a := Advice{Safe: p.safeTTL(m.high(m.lifetime(m.retries+1, crashLast)))}
	a.Recommended = roundUp(a.Safe + max(a.Safe/100, minute))
	if a.Recommended >= longest {
		a.Warnings = append(a.Warnings, Warning{
			WarningTooLong,
			fmt.Sprintf("the task can live %s, longer than any Unique TTL: lower MaxRetry or cap the delay", rough(a.Safe)),
		})
	} else {
		a.Go = "asynq.Unique(" + goDuration(a.Recommended) + ")"
	}
	if p.Period > 0 && a.Safe > p.Period {
		a.Warnings = append(a.Warnings, Warning{
			WarningPeriod,
			fmt.Sprintf("a safe lock lasts %s but the same work may legally come again after %s: Unique is the wrong tool here, use a TaskID or the check in the handler", rough(a.Safe), p.Period),
		})
	}
	return a, nil
}

// roundUp goes to the next multiple of a unit that suits the size.
func roundUp(s Seconds) Seconds {
	unit := day
	for _, u := range []struct{ below, unit Seconds }{
		{2 * minute, 10}, {10 * minute, 30}, {hour, 5 * minute}, {6 * hour, 15 * minute}, {2 * day, hour}, {7 * day, 6 * hour},
	} {
		if s <= u.below {
			unit = u.unit
			break
		}
	}
	return ceil(s/unit) * unit
}

// goDuration writes whole seconds as Go source.
func goDuration(s Seconds) string {
	whole := int64(s)
	switch {
	case whole%86400 == 0:
		return fmt.Sprintf("%d * 24 * time.Hour", whole/86400)
	case whole%3600 == 0:
		return fmt.Sprintf("%d * time.Hour", whole/3600)
	case whole%60 == 0:
		return fmt.Sprintf("%d * time.Minute", whole/60)
	}
	return fmt.Sprintf("%d * time.Second", whole)
}
