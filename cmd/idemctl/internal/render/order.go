package render

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// order is how results are sorted. The zero value is the order of
// reconcile.Finding.Less.
type order struct {
	by   string // a name from SortKeys; "" and "severity" are the zero value's
	down bool
}

// facts are what results can be sorted by, of a finding or of a listed task.
type facts struct {
	severity reconcile.Severity
	code     reconcile.Code
	task     *inspect.Task
	key      string
	status   reconcile.Status
	cause    reconcile.Cause
	applied  time.Time
}

// sortKeys append to a sorting key what one name stands for. Names that sort by
// time put the newest first, and what has no such time last; the others ascend.
var sortKeys = map[string]func(sortKey, *facts) sortKey{
	"severity": func(k sortKey, f *facts) sortKey { return append(k, ^byte(f.severity)) },
	"code":     func(k sortKey, f *facts) sortKey { return k.text(string(f.code)) },
	"queue":    func(k sortKey, f *facts) sortKey { return k.text(f.task.Queue) },
	"id":       func(k sortKey, f *facts) sortKey { return k.text(f.task.ID) },
	"type":     func(k sortKey, f *facts) sortKey { return k.text(f.task.Type) },
	"state":    func(k sortKey, f *facts) sortKey { return append(k, byte(f.task.State)) },
	"key":      func(k sortKey, f *facts) sortKey { return k.text(f.key) },
	"status":   func(k sortKey, f *facts) sortKey { return k.text(f.status.String()) },
	"cause":    func(k sortKey, f *facts) sortKey { return k.text(string(f.cause)) },
	"retried":  func(k sortKey, f *facts) sortKey { return k.number(int64(f.task.Retried)) },
	"failed":   func(k sortKey, f *facts) sortKey { return k.newest(f.task.LastFailedAt) },
	"applied":  func(k sortKey, f *facts) sortKey { return k.newest(f.applied) },
	"next":     func(k sortKey, f *facts) sortKey { return k.soonest(f.task.NextProcessAt) },
}

// SortKeys lists the names that Options.Sort takes, sorted.
func SortKeys() []string {
	names := make([]string, 0, len(sortKeys))
	for name := range sortKeys {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func parseOrder(name string) (order, error) {
	by, down := strings.CutPrefix(name, "-")
	if _, ok := sortKeys[by]; !ok && name != "" {
		return order{}, fmt.Errorf("cannot sort by %q (one of %s; with a leading - the other way round)",
			name, strings.Join(SortKeys(), ", "))
	}
	return order{by: by, down: down}, nil
}

// key is a byte string whose order is the results' order. Results that the name
// does not tell apart are in the usual order.
func (o order) key(f *facts) []byte {
	var k sortKey
	if o.by != "" && o.by != "severity" || o.down {
		k = sortKeys[o.by](k, f)
		if o.down {
			for i := range k {
				k[i] = ^k[i]
			}
		}
	}
	return append(k, usualKey(f)...)
}

// usualKey is the order of reconcile.Finding.Less.
func usualKey(f *facts) sortKey {
	k := sortKey{^byte(f.severity)}
	return k.text(string(f.code)).text(f.task.Queue).text(f.task.ID).text(f.task.Type)
}

// sortKey is built so that comparing bytes compares values, part by part.
type sortKey []byte

// text ends in a mark that sorts before every byte, so that a prefix comes
// first; zero bytes inside are told from it.
func (k sortKey) text(s string) sortKey {
	for i := range len(s) {
		k = append(k, s[i])
		if s[i] == 0 {
			k = append(k, 0xff)
		}
	}
	return append(k, 0, 1)
}

func (k sortKey) number(n int64) sortKey {
	return binary.BigEndian.AppendUint64(k, uint64(n)^(1<<63))
}

func (k sortKey) newest(t time.Time) sortKey {
	if t.IsZero() {
		return append(k, 0xff)
	}
	return append(k, 0).number(^t.Unix())
}

func (k sortKey) soonest(t time.Time) sortKey {
	if t.IsZero() {
		return append(k, 0xff)
	}
	return append(k, 0).number(t.Unix())
}

// factsOf are a finding's.
func factsOf(f *reconcile.Finding) *facts {
	return &facts{
		severity: f.Severity, code: f.Code, task: &f.Task, key: f.Key,
		status: f.Status, cause: f.Cause, applied: f.AppliedAt,
	}
}
