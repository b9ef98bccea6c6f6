package retry

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"
)

// formula is a compiled expression over n (failures before this one, an int from
// 0) and rand (a float in [0, 1)). Its result is a number of seconds. In it
// duration("30s") is 30: expr's own would multiply with rand to nanoseconds that
// look like seconds.
type formula struct {
	source  string
	program *vm.Program
	known   sync.Map // n, below maxKnown: its spread
}

// maxKnown bounds what a formula remembers.
const maxKnown = 1024

// The ends of rand: Go's rand.Float64 is never 1, and int(rand*30) must not
// become 30.
var randEnds = [2]float64{0, math.Nextafter(1, 0)}

// probes is how many evenly spaced values of rand stand for the distribution of
// an expression that is not linear in rand.
const probes = 32

const maxFormula = 4096 // bytes

func newFormula(source string) (*formula, error) {
	if strings.TrimSpace(source) == "" {
		return nil, errors.New("the expression is empty")
	}
	if len(source) > maxFormula {
		return nil, fmt.Errorf("the expression is longer than %d bytes", maxFormula)
	}
	loops := &loopFinder{}
	program, err := expr.Compile(source,
		expr.Env(map[string]any{"n": 0, "rand": 0.0}),
		expr.DisableBuiltin("now"), // the same n and rand must give the same delay
		expr.DisableBuiltin("duration"),
		expr.DisableBuiltin("repeat"),
		expr.Function("duration", durationInSeconds, new(func(string) float64)),
		expr.Patch(loops),
	)
	if err != nil {
		return nil, fmt.Errorf("the expression does not compile: %s", plain(err))
	}
	if loops.found {
		return nil, errors.New("the expression loops (.. or a function with a predicate): write the delay as a formula of n and rand")
	}
	f := &formula{source: source, program: program}
	for _, n := range []int{0, 1, 2, 24} {
		if _, err := f.spread(n); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// loopFinder notes what could make one evaluation long: everything else takes
// time in proportion to the expression's length, which is bounded.
type loopFinder struct{ found bool }

func (l *loopFinder) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.PredicateNode:
		l.found = true
	case *ast.BinaryNode:
		if n.Operator == ".." {
			l.found = true
		}
	}
}

func durationInSeconds(args ...any) (any, error) {
	text, _ := args[0].(string)
	s, err := ParseSeconds(text)
	return float64(s), err
}

// plain is expr's message on one line, without the picture of the source.
func plain(err error) string {
	var at *file.Error
	if errors.As(err, &at) {
		return fmt.Sprintf("%s (column %d)", at.Message, at.Column+1)
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return first
}

// at evaluates the expression once.
func (f *formula) at(n int, r float64) (Seconds, error) {
	out, err := expr.Run(f.program, map[string]any{"n": n, "rand": r})
	if err != nil {
		return 0, fmt.Errorf("the expression fails at n=%d: %s", n, plain(err))
	}
	var s Seconds
	switch v := out.(type) {
	case float64:
		s = Seconds(v)
	case int:
		s = Seconds(v)
	case time.Duration:
		s = SecondsOf(v)
	default:
		return 0, fmt.Errorf("the expression gives %s, not a duration or seconds", typeName(out))
	}
	switch {
	case math.IsNaN(float64(s)):
		return 0, fmt.Errorf("the expression is not a number at n=%d", n)
	case math.IsInf(float64(s), 0):
		return 0, fmt.Errorf("the expression is infinite at n=%d", n)
	case s < 0:
		return 0, fmt.Errorf("the expression is negative at n=%d (%gs)", n, float64(s))
	}
	return min(s, longest), nil
}

func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case string:
		return "text"
	case bool:
		return "true or false"
	}
	return fmt.Sprintf("a %T", v)
}

// spread is the delay after n counted failures.
func (f *formula) spread(n int) (spread, error) {
	if s, ok := f.known.Load(n); ok {
		return s.(spread), nil
	}
	s, err := f.explore(n)
	if err == nil && n < maxKnown {
		f.known.Store(n, s)
	}
	return s, err
}

// explore evaluates both ends of rand and looks between them for the shape.
func (f *formula) explore(n int) (spread, error) {
	low, err := f.at(n, randEnds[0])
	if err != nil {
		return spread{}, err
	}
	high, err := f.at(n, randEnds[1])
	if err != nil {
		return spread{}, err
	}
	s := spread{shape: shapePoints, min: min(low, high), max: max(low, high), points: make([]Seconds, probes)}
	linear := true
	for i := range s.points {
		r := (float64(i) + 0.5) / probes
		v, err := f.at(n, r)
		if err != nil {
			return spread{}, err
		}
		s.points[i] = v
		linear = linear && math.Abs(float64(v-low-(high-low)*Seconds(r))) <= 1e-9*(1+float64(s.max))
		if v < s.min || v > s.max {
			s.min, s.max, s.doubt = min(s.min, v), max(s.max, v), doubtTurning
		}
	}
	switch {
	case s.max >= longest:
		s.doubt = doubtSaturated
	case linear:
		return uniform(s.min, s.max), nil
	}
	return s, nil
}
