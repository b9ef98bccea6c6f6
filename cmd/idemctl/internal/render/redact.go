package render

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/idemctl/idemctl/reconcile"
)

// Redaction leaves nothing to luck: names match whatever their case, a name
// reaches through any arrays on its way, and where a payload is not a JSON object
// or array, so that no path can point into it, all of it is hidden.

const redacted = reconcile.HiddenKey

// redactor hides parts of JSON payloads. The zero value hides nothing.
type redactor struct {
	paths []path
	// broken hides every payload: the rules could not be read.
	broken bool
	// wholePayload and wholeHeaders say that a path names nothing less.
	wholePayload, wholeHeaders bool
}

// path is a parsed path; each step names an object's member or an array's
// element.
type path []step

type step struct {
	name  string // member, in any case
	index int    // element, where element is true
	// element says that the step is [0] or [*], and every that it is [*] or *.
	element, every bool
	// deep steps (..name) match at any depth.
	deep bool
}

// newRedactor reads the paths of payload fields to hide. A path is a member's
// name, then more of .name, [0], [*], .*, ["any name"] and ..name (at any
// depth), as in $.card.number, items[*].secret or ..password; the leading $ may
// be left out, and a leading payload, as key expressions have it, may be there.
// payload and headers alone are all of them.
func newRedactor(paths []string) (redactor, error) {
	var r redactor
	var errs []error
	for _, text := range paths {
		p, err := parsePath(text)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		r.paths = append(r.paths, p)
		if len(p) == 1 {
			r.wholePayload = r.wholePayload || strings.EqualFold(p[0].name, "payload")
			r.wholeHeaders = r.wholeHeaders || strings.EqualFold(p[0].name, "headers")
		}
		if len(p) > 1 && p[0] == (step{name: "payload"}) {
			r.paths = append(r.paths, p[1:])
		}
	}
	err := errors.Join(errs...)
	r.broken = err != nil
	return r, err
}

// hidesPayloads says that no payload is shown, whatever is in it.
func (r redactor) hidesPayloads() bool { return r.broken || r.wholePayload }

// CheckRedact says what is wrong with a path of Options.Redact.
func CheckRedact(path string) error {
	_, err := parsePath(path)
	return err
}

func (r redactor) active() bool { return r.broken || len(r.paths) > 0 }

func parsePath(text string) (path, error) {
	rest := strings.TrimPrefix(strings.TrimSpace(text), "$")
	if rest != "" && rest[0] != '.' && rest[0] != '[' {
		rest = "." + rest
	}
	var p path
	for rest != "" {
		var s step
		var err error
		if s, rest, err = parseStep(rest); err != nil {
			return nil, fmt.Errorf("redact path %q: %w (write it like card.number, items[*].secret or ..password)", text, err)
		}
		p = append(p, s)
	}
	if len(p) == 0 {
		return nil, fmt.Errorf("redact path %q names no field (write it like card.number, items[*].secret or ..password)", text)
	}
	return p, nil
}

func parseStep(s string) (st step, rest string, err error) {
	if strings.HasPrefix(s, "[") {
		return parseBrackets(s)
	}
	s, st.deep = strings.CutPrefix(s, "..")
	s = strings.TrimPrefix(s, ".")
	if st.deep && strings.HasPrefix(s, "[") {
		st, rest, err = parseBrackets(s)
		st.deep = true
		return st, rest, err
	}
	end := strings.IndexAny(s, ".[")
	if end < 0 {
		end = len(s)
	}
	if end == 0 {
		return st, "", errors.New("a name is missing")
	}
	st.name = s[:end]
	st.every = st.name == "*"
	return st, s[end:], nil
}

func parseBrackets(s string) (st step, rest string, err error) {
	s = s[1:]
	if strings.HasPrefix(s, `"`) || strings.HasPrefix(s, `'`) {
		end := strings.Index(s[1:], s[:1]+"]")
		if end < 0 {
			return st, "", errors.New("a quoted name is not closed")
		}
		return step{name: s[1 : 1+end]}, s[1+end+2:], nil
	}
	inside, rest, ok := strings.Cut(s, "]")
	if !ok {
		return st, "", errors.New("a bracket is not closed")
	}
	if inside == "*" || inside == "" {
		return step{element: true, every: true}, rest, nil
	}
	n, err := strconv.Atoi(inside)
	if err != nil || n < 0 {
		return st, "", fmt.Errorf("[%s] is no index", inside)
	}
	return step{element: true, index: n}, rest, nil
}
