package render

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// Name writes a task as QUEUE/ID for scripts: one word to every shell without
// quotes, and one line. Bytes other than letters, digits and _ . : @ + , - are
// written as %XX, and so is a - or . that would come first.
func Name(r inspect.Ref) string { return escapeName(r.Queue) + "/" + escapeName(r.ID) }

// ParseName reads what Name wrote.
func ParseName(name string) (inspect.Ref, error) {
	queue, id, ok := strings.Cut(name, "/")
	if !ok {
		return inspect.Ref{}, fmt.Errorf("task name %q is not QUEUE/ID", name)
	}
	q, err := url.PathUnescape(queue)
	if err != nil {
		return inspect.Ref{}, fmt.Errorf("task name %q: %w", name, err)
	}
	i, err := url.PathUnescape(id)
	if err != nil {
		return inspect.Ref{}, fmt.Errorf("task name %q: %w", name, err)
	}
	return inspect.Ref{Queue: q, ID: i}, nil
}

func escapeName(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		safe := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			strings.IndexByte("_:@+,", c) >= 0 || i > 0 && (c == '-' || c == '.')
		if safe {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

// nameAudit writes the tasks that have findings. Unless another order is asked
// for they are sorted by name, each once however many findings it has.
type nameAudit struct{ base }

func (a *nameAudit) finding(f *reconcile.Finding) error {
	if !ofTask(f) {
		return nil
	}
	name := Name(f.Task.Ref)
	a.n++
	if a.opt.Sort != "" {
		return a.spool.add(a.order.key(factsOf(f)), []byte(name))
	}
	return a.spool.add([]byte(name), []byte(name))
}

func (a *nameAudit) close(*reconcile.Report, *Header) error {
	return writeNames(&a.base)
}

// writeNames writes each name, and neighbors that are equal once.
func writeNames(b *base) error {
	out := newOutput(b.w)
	most, printed, last := b.opt.limited(-1), 0, ""
	if err := b.spool.each(func(blob []byte) error {
		if string(blob) == last {
			return nil
		}
		if printed == most {
			return errEnough
		}
		last = string(blob)
		printed++
		out.line(blob)
		return nil
	}); err != nil && !errors.Is(err, errEnough) {
		return err
	}
	return out.flush()
}
