package reconcile

import (
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
)

// The messages of expr-lang speak of Go's types, and some quote the value that a
// function cannot take: what a payload holds must not come out that way.

// place is what stands at a position of a key expression.
type place struct {
	base   Field  // the path whose member is taken; nil: none, or it is computed
	member string // "member number", "element 0"; "" where no member is taken
	does   string // what else stands there: "int(…)", "the operator *"
}

// placesOf are the places of an expression where evaluating it can fail.
func placesOf(text string) map[int]place {
	tree, err := parser.Parse(text)
	if err != nil {
		return nil // the compiler has said what is wrong
	}
	p := &placeFinder{at: map[int]place{}, fieldReader: fieldReader{inner: map[ast.Node]bool{}}}
	ast.Walk(&tree.Node, p)
	return p.at
}

type placeFinder struct {
	fieldReader
	at map[int]place
}

func (p *placeFinder) Visit(node *ast.Node) {
	p.fieldReader.Visit(node)
	var here place
	switch n := (*node).(type) {
	case *ast.MemberNode:
		here = place{base: p.fieldReader.at(n.Node), member: memberWords(n.Property)}
	case *ast.BuiltinNode:
		here.does = n.Name + "(…)"
	case *ast.CallNode:
		here.does = n.Callee.String() + "(…)"
	case *ast.BinaryNode:
		here.does = "the operator " + n.Operator
	case *ast.UnaryNode:
		here.does = "the operator " + n.Operator
	case *ast.SliceNode:
		here.does = "a slice"
	default:
		return
	}
	from := (*node).Location().From
	if p.at[from].member == "" {
		p.at[from] = here
	}
}

func memberWords(property ast.Node) string {
	step, plain := stepOf(property)
	if _, number := property.(*ast.IntegerNode); number {
		return "element " + step
	}
	if !plain {
		return "such member"
	}
	return "member " + step
}

// joinFault is what the two sides of a + have wrong; it tells nothing of them but
// their kinds.
type joinFault string

func (e joinFault) Error() string { return string(e) }

// problem says in words why the expression gave no value for a payload.
func (k *Key) problem(err error, payload any, isJSON bool) string {
	var said joinFault
	if errors.As(err, &said) {
		return k.text + ": " + string(said)
	}
	words := "it cannot be computed from this task"
	var at *file.Error
	if errors.As(err, &at) {
		switch here := k.places[at.From]; {
		case len(here.base) > 0 && here.base[0] == "payload":
			if words := lacking(here, payload, isJSON); words != "" {
				return k.text + ": " + words
			}
		case here.member != "":
			words = "what it looks into has no " + here.member
		case here.does != "":
			words = here.does + " does not take what it is given"
		}
	}
	if k.payload && !isJSON {
		words += "; the payload is not JSON"
	}
	return k.text + ": " + words
}

// lacking says that what stands at a path of the payload has no such member; "" where
// that is not what is wrong.
func lacking(here place, payload any, isJSON bool) string {
	if !isJSON {
		return "the payload is not JSON and has no " + here.member
	}
	value, name := payload, "the payload"
	if len(here.base) > 1 {
		name = spelled(here.base)
	}
	for _, step := range here.base[1:] {
		value = stepInto(value, step)
	}
	kind := kindOf(value)
	if strings.HasPrefix(here.member, "member ") && kind == "an object" {
		return ""
	}
	return name + " is " + kind + " and has no " + here.member
}

func stepInto(value any, step string) any {
	switch v := value.(type) {
	case map[string]any:
		return v[step]
	case []any:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(v) {
			return v[i]
		}
	}
	return nil
}

var plainMember = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// spelled writes a path as an expression has it.
func spelled(f Field) string {
	var b strings.Builder
	b.WriteString(f[0])
	for _, step := range f[1:] {
		_, err := strconv.Atoi(step)
		switch {
		case err == nil:
			b.WriteString("[" + step + "]")
		case plainMember.MatchString(step):
			b.WriteString("." + step)
		default:
			b.WriteString("[" + strconv.Quote(step) + "]")
		}
	}
	return b.String()
}

// kindOf is what a value of a payload is, in JSON's words.
func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "missing or null"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case int, json.Number:
		return "a number"
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	}
	return "a computed value"
}
