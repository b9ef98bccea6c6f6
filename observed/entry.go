package observed

import (
	"strconv"
	"strings"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// Entry is a periodic entry of a running scheduler, as far as it tells how long
// its tasks live and are locked. Options given to asynq.NewTask are not among
// them.
type Entry struct {
	Spec     string
	Unique   time.Duration // 0: not given
	MaxRetry int           // -1: not given
	Timeout  time.Duration // 0: not given
	Interval time.Duration // shortest between its next ticks; 0: not known
}

// entryOf reads the options as asynq prints them, Name(value) (client.go: the
// String methods of its options).
func entryOf(s inspect.Schedule) (queue string, e Entry) {
	queue = "default" // client.go: composeOptions
	e = Entry{Spec: s.Spec, MaxRetry: -1, Interval: reconcile.Periodic{Schedule: s}.Interval()}
	for _, option := range s.Options {
		name, rest, _ := strings.Cut(option, "(")
		value := strings.TrimSuffix(rest, ")")
		switch name {
		case "Queue":
			if text, err := strconv.Unquote(value); err == nil {
				queue = text
			}
		case "Unique":
			e.Unique, _ = time.ParseDuration(value)
		case "Timeout":
			e.Timeout, _ = time.ParseDuration(value)
		case "MaxRetry":
			if n, err := strconv.Atoi(value); err == nil && n >= 0 {
				e.MaxRetry = n
			}
		}
	}
	return queue, e
}
