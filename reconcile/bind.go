package reconcile

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/retry"
)

// Bound is a rule made ready: its key compiled, its retry policy read, its
// sources resolved by their ledgers. It is read-only once an audit has begun.
type Bound struct {
	Rule
	Number int // position in the configuration, from 1
	key    *Key
	delays retry.Policy
	hidden bool // its key is made of what no output may show

	// facts and ages have one entry for each of Sources. ages is replaced as a
	// whole while audits run.
	facts []SourceFacts
	ages  atomic.Pointer[[]SourceAge]
	// parts group the sources by ledger, in the order of their first source.
	parts []part
}

// part is the share of a rule's sources that one ledger reads in one statement.
type part struct {
	ledger  string
	lookup  Lookup
	sources []int // indices into Rule.Sources
}

// RuleError says what is wrong with a rule.
type RuleError struct {
	Number int    // from 1
	Field  string // "key", "policy", "type", "queue" or "ledger"
	Err    error
}

func (e *RuleError) Error() string { return fmt.Sprintf("rule %d: %v", e.Number, e.Err) }
func (e *RuleError) Unwrap() error { return e.Err }

// Bind compiles a rule's expressions; its errors are *RuleError. Its sources are resolved later, by
// Auditor.
func Bind(number int, r Rule) (*Bound, error) {
	key, err := CompileKey(r.Key)
	if err != nil {
		return nil, &RuleError{number, "key", err}
	}
	spec := r.Policy.Retry
	if spec == "" {
		spec = "default"
	}
	delays, err := retry.Parse(spec)
	if err != nil {
		return nil, &RuleError{number, "policy", fmt.Errorf("policy: %w", err)}
	}
	for field, glob := range map[string]string{"type": r.Type, "queue": r.Queue} {
		if _, err := matchGlob(glob, ""); err != nil {
			return nil, &RuleError{number, field, fmt.Errorf("%s pattern %q: %w", field, glob, err)}
		}
	}
	b := &Bound{
		Rule: r, Number: number, key: key, delays: delays,
		facts: make([]SourceFacts, len(r.Sources)),
	}
	ages := make([]SourceAge, len(r.Sources))
	b.ages.Store(&ages)
	return b, nil
}

// KeyReads says whether the rule's key is made of one of the fields.
func (b *Bound) KeyReads(of func(Field) bool) bool { return slices.ContainsFunc(b.key.Reads(), of) }

// HidesKey says that no output may show the rule's keys, see Options.Hidden. The nil
// rule has none.
func (b *Bound) HidesKey() bool { return b != nil && b.hidden }

// Facts says what each of the rule's sources turned out to be.
func (b *Bound) Facts() []SourceFacts { return b.facts }

// Matches says whether the rule speaks of tasks of this type in this queue.
func (b *Bound) Matches(taskType, queue string) bool {
	t, _ := matchGlob(b.Type, taskType)
	q, _ := matchGlob(b.Queue, queue)
	return t && q
}

// keyFor builds the task's key and makes sure that every source can hold it.
func (b *Bound) keyFor(t inspect.Task) (key, problem string) {
	key, problem = b.key.Of(t)
	if problem != "" && b.hidden {
		return "", "its key expression finds none, and may not say why: it reads what is hidden"
	}
	if problem != "" {
		return "", problem
	}
	for _, p := range b.parts {
		if _, problem := p.lookup.Fit(key); problem != "" {
			return "", problem
		}
	}
	return key, ""
}

// canonical is the one spelling of a key that all keys of the same row share,
// e.g. of a UUID.
func (b *Bound) canonical(key string) string {
	for _, p := range b.parts {
		if canonical, problem := p.lookup.Fit(key); problem == "" {
			return canonical
		}
	}
	return key
}

// witnesses are the indices of the mark and effect sources: those whose rows
// decide the status.
func (b *Bound) witnesses() []int {
	var w []int
	for i, s := range b.Sources {
		if s.Role == RoleMark || s.Role == RoleEffect {
			w = append(w, i)
		}
	}
	return w
}

// matchGlob matches * and ? and [sets] against a whole name; unlike path.Match
// it lets * cross slashes, which task types may hold. "" matches everything.
func matchGlob(glob, name string) (bool, error) {
	if glob == "" || glob == "*" {
		return true, nil
	}
	const slash, stand = "/", "\x01"
	return path.Match(strings.ReplaceAll(glob, slash, stand), strings.ReplaceAll(name, slash, stand))
}

// MatchGlob says whether the glob (* ? [sets]; "" is everything) matches the
// whole name. A malformed glob matches nothing.
func MatchGlob(glob, name string) bool {
	ok, err := matchGlob(glob, name)
	return ok && err == nil
}
