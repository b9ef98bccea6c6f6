package render

import (
	"io"

	"github.com/idemctl/idemctl/inspect/payload"
)

// PayloadKeys writes the locks of payloads, one after the other.
type PayloadKeys struct {
	out output
	opt Options
	n   int
}

// NewPayloadKeys prepares a list of locks.
func NewPayloadKeys(w io.Writer, o Options) *PayloadKeys {
	return &PayloadKeys{out: newOutput(w), opt: o.filled()}
}

type keyJSON struct {
	ID        string  `json:"id"`
	Queue     string  `json:"queue"`
	Type      string  `json:"type"`
	Canonical bool    `json:"canonical"`
	UniqueKey *string `json:"unique_key"`
	// CanonicalUniqueKey is null where there is no canonical form: then Undefined
	// says why.
	CanonicalUniqueKey *string        `json:"canonical_unique_key"`
	Undefined          *undefinedJSON `json:"undefined"`
	// NilUniqueKey is the lock of a nil payload, for a payload of zero bytes.
	NilUniqueKey *string `json:"nil_unique_key"`
}

// Key writes the locks of one payload, whose type is known. The form is its
// canonical one, nil where undefined says why there is none.
func (k *PayloadKeys) Key(p *Payload, form []byte, undefined *payload.UndefinedError) error {
	k.n++
	s := keyJSON{
		ID: p.ID, Queue: p.Queue, Type: p.Type, UniqueKey: p.lock(),
		CanonicalUniqueKey: p.canonicalLock(form), Undefined: shapeUndefined(undefined),
	}
	if len(p.Raw) == 0 {
		s.NilUniqueKey = text(payload.UniqueKey(p.Queue, p.Type, nil))
	}
	s.Canonical = s.CanonicalUniqueKey != nil && *s.CanonicalUniqueKey == *s.UniqueKey
	switch k.opt.Format {
	case FormatJSON, FormatNDJSON:
		object, err := marshal(s)
		if err != nil {
			return err
		}
		k.out.line(object)
	case FormatName:
		k.out.put(Visible(*s.UniqueKey), "\n")
	default:
		k.lines(p, &s)
	}
	return k.out.flush()
}

// lines writes a lock a line with what it is the lock of, separated by a tab in a
// pipe.
func (k *PayloadKeys) lines(p *Payload, s *keyJSON) {
	out := k.out
	line := func(key *string, of string) {
		if k.opt.TTY {
			out.put(Visible(*key), "  ", paint(k.opt.Color).dim(of), "\n")
			return
		}
		out.put(Visible(*key), "\t", of, "\t", p.name(), "\n")
	}
	enqueued := "as enqueued"
	if p.NoLock {
		enqueued = "not taken (enqueued without Unique)"
	}
	if k.opt.TTY && k.n > 1 {
		out.put("\n")
	}
	switch {
	case s.NilUniqueKey != nil:
		line(s.UniqueKey, emptyOrNil(p))
		if *s.NilUniqueKey != *s.UniqueKey {
			line(s.NilUniqueKey, "of a nil payload")
		}
	case s.Canonical:
		line(s.UniqueKey, enqueued+", and canonical")
	case s.CanonicalUniqueKey == nil:
		line(s.UniqueKey, enqueued+"; no canonical form ("+s.Undefined.Rule+")")
	default:
		line(s.UniqueKey, enqueued)
		line(s.CanonicalUniqueKey, "of the canonical form")
	}
}

func emptyOrNil(p *Payload) string {
	if p.Raw == nil {
		return "of a nil payload"
	}
	return "of an empty payload that is not nil"
}
