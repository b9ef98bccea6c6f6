package retry

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// required and optional say whether a named argument must be written.
const (
	required = true
	optional = false
)

// maxEntries bounds a table and any list of arguments.
const maxEntries = 10_000

// arguments are what stands between a policy's parentheses. The first error is
// kept and given by done.
type arguments struct {
	policy string
	list   []argument
	raw    string // the text between the parentheses, for expr
	used   []string
	err    error
}

type argument struct {
	name  string // "" when the argument has no name
	value string
}

// split reads name, parentheses and arguments.
func split(spec string) (string, *arguments, error) {
	text := strings.TrimSpace(spec)
	if text == "" {
		return "", nil, errors.New("empty (write default, fixed(60s), …)")
	}
	name, rest, open := strings.Cut(text, "(")
	a := &arguments{policy: strings.TrimSpace(name)}
	if !open {
		return a.policy, a, nil
	}
	body, closed := strings.CutSuffix(rest, ")")
	if !closed {
		return "", nil, errors.New("the closing parenthesis is missing")
	}
	a.raw = strings.TrimSpace(body)
	if a.policy == "expr" || a.raw == "" {
		return a.policy, a, nil
	}
	parts := strings.Split(a.raw, ",")
	if len(parts) > maxEntries {
		return "", nil, fmt.Errorf("more than %d arguments", maxEntries)
	}
	for _, part := range parts {
		arg := argument{value: strings.TrimSpace(part)}
		if key, value, named := strings.Cut(part, "="); named {
			arg = argument{strings.TrimSpace(key), strings.TrimSpace(value)}
			if arg.name == "" {
				return "", nil, fmt.Errorf("a parameter name is missing before %s", quote(part))
			}
		}
		if arg.value == "" {
			return "", nil, fmt.Errorf("an argument is empty")
		}
		a.list = append(a.list, arg)
	}
	return a.policy, a, nil
}

// none is for a policy without arguments.
func (a *arguments) none() error {
	if a.raw != "" {
		return fmt.Errorf("%s takes no arguments", a.policy)
	}
	return nil
}

// durations are the arguments of a policy that names none of them.
func (a *arguments) durations() ([]Seconds, error) {
	out := make([]Seconds, 0, len(a.list))
	for _, arg := range a.list {
		if arg.name != "" {
			return nil, fmt.Errorf("unknown parameter %s (%s takes delays only)", quote(arg.name), a.policy)
		}
		s, err := delayOf(arg.value)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func delayOf(text string) (Seconds, error) {
	s, err := ParseSeconds(text)
	if err == nil && s < 0 {
		err = fmt.Errorf("delay %s is negative", text)
	}
	return s, err
}

// text is the one quoted argument of expr. Single quotes are free for strings
// inside the expression.
func (a *arguments) text() (string, error) {
	if len(a.raw) < 2 || (a.raw[0] != '"' && a.raw[0] != '`') {
		return "", errors.New(`the expression must be in double quotes (write expr("30 * (n + 1)"))`)
	}
	text, err := strconv.Unquote(a.raw)
	if err != nil {
		return "", errors.New("the quoted expression does not end, or holds a bad escape")
	}
	return text, nil
}

func (a *arguments) find(name string) (string, bool) {
	i := slices.IndexFunc(a.list, func(arg argument) bool { return arg.name == name })
	if i < 0 {
		return "", false
	}
	return a.list[i].value, true
}

func (a *arguments) has(name string) bool {
	_, ok := a.find(name)
	return ok
}

// take looks a named argument up and notes that the policy has it.
func (a *arguments) take(name string, must bool) (string, bool) {
	a.used = append(a.used, name)
	value, ok := a.find(name)
	if !ok && must {
		a.fail(fmt.Errorf("%s is missing", name))
	}
	return value, ok
}

func (a *arguments) fail(err error) {
	if a.err == nil {
		a.err = err
	}
}

func (a *arguments) duration(name string, must bool) Seconds {
	value, ok := a.take(name, must)
	if !ok {
		return 0
	}
	s, err := ParseSeconds(value)
	if err != nil {
		a.fail(fmt.Errorf("%s %w", name, err))
	} else if s < 0 {
		a.fail(fmt.Errorf("%s %s is negative", name, value))
	}
	return s
}

func (a *arguments) number(name string, otherwise float64, must bool) float64 {
	value, ok := a.take(name, must)
	if !ok {
		return otherwise
	}
	f, err := parseNumber(value)
	if err != nil {
		a.fail(fmt.Errorf("%s %w", name, err))
	}
	return f
}

func parseNumber(text string) (float64, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, fmt.Errorf("%s is not a number", quote(text))
	}
	return f, nil
}

func (a *arguments) jitter(name string) Jitter {
	value, ok := a.take(name, optional)
	if !ok {
		return Jitter{}
	}
	j, err := parseJitter(value)
	if err != nil {
		a.fail(err)
	}
	return j
}

// done reports the first problem: a bad or missing value, a name the policy does
// not have, or one written twice.
func (a *arguments) done() error {
	seen := map[string]bool{}
	for _, arg := range a.list {
		switch {
		case arg.name == "":
			return fmt.Errorf("%s has no name (%s takes %s)", quote(arg.value), a.policy, strings.Join(a.used, ", "))
		case !slices.Contains(a.used, arg.name):
			return fmt.Errorf("unknown parameter %s (%s takes %s)", quote(arg.name), a.policy, strings.Join(a.used, ", "))
		case seen[arg.name]:
			return fmt.Errorf("%s is written twice", arg.name)
		}
		seen[arg.name] = true
	}
	return a.err
}
