package reconcile

import (
	"slices"
	"strconv"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
)

// Field is a path that a key expression reads: "payload" or "headers", then the
// members and the numbers of elements, as far as they can be told without a payload.
// The path {"payload"} alone may be any field of it, and so may one that ends in
// AnyField be any that is somewhere below.
type Field []string

// AnyField stands at the end of a path for what is below it.
const AnyField = "*"

// fieldsRead are the fields that an expression reads, the longest paths that it
// spells out: of payload.card.number it is not {"payload", "card"}. What is computed,
// as in payload[id], ends the path that leads to it.
func fieldsRead(text string) []Field {
	tree, err := parser.Parse(text)
	if err != nil {
		return []Field{{"payload"}, {"headers"}} // the compiler has said what is wrong
	}
	r := &fieldReader{inner: map[ast.Node]bool{}, plain: map[ast.Node]bool{}}
	ast.Walk(&tree.Node, r)
	r.values(tree.Node)
	var fields []Field
	for _, at := range r.ends {
		switch {
		case r.inner[at.node]:
		case r.plain[at.node] || len(at.field) == 1:
			fields = append(fields, at.field)
		default:
			fields = append(fields, append(at.field, AnyField))
		}
	}
	return fields
}

// fieldReader notes each node that is a path. The walk comes to a node after what is
// in it, so that the longest of each comes last.
type fieldReader struct {
	ends  []fieldAt
	inner map[ast.Node]bool // paths that a longer one goes through
	plain map[ast.Node]bool // paths whose value goes into the key as it is
}

// plainCalls are those that make one text or number of one.
var plainCalls = []string{"upper", "lower", "trim", "trimPrefix", "trimSuffix", "string", "int"}

// values marks the paths whose value goes into the key as it is, so that it is no
// object: what is taken apart may be.
func (r *fieldReader) values(node ast.Node) {
	if r.at(node) != nil {
		r.plain[node] = true
	}
	switch n := node.(type) {
	case *ast.ChainNode:
		r.values(n.Node)
	case *ast.UnaryNode:
		r.values(n.Node)
	case *ast.BinaryNode:
		r.values(n.Left)
		r.values(n.Right)
	case *ast.ConditionalNode:
		r.values(n.Cond)
		r.values(n.Exp1)
		r.values(n.Exp2)
	case *ast.BuiltinNode:
		if slices.Contains(plainCalls, n.Name) {
			for _, argument := range n.Arguments {
				r.values(argument)
			}
		}
	}
}

type fieldAt struct {
	node  ast.Node
	field Field
}

func (r *fieldReader) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		switch n.Value {
		case "payload", "headers":
			r.ends = append(r.ends, fieldAt{n, Field{n.Value}})
		case "$env":
			r.ends = append(r.ends, fieldAt{n, Field{"payload"}}, fieldAt{n, Field{"headers"}})
		}
	case *ast.MemberNode:
		step, plain := stepOf(n.Property)
		before := r.at(n.Node)
		if !plain || before == nil {
			return
		}
		r.inner[n.Node] = true
		r.ends = append(r.ends, fieldAt{n, append(slices.Clone(before), step)})
	case *ast.ChainNode: // a?.b
		if field := r.at(n.Node); field != nil {
			r.inner[n.Node] = true
			r.ends = append(r.ends, fieldAt{n, field})
		}
	}
}

// at is the path that a node is; nil where it is none, or all of the environment.
func (r *fieldReader) at(node ast.Node) Field {
	var found Field
	for _, e := range r.ends {
		if e.node != node {
			continue
		}
		if found != nil {
			return nil
		}
		found = e.field
	}
	return found
}

func stepOf(property ast.Node) (step string, plain bool) {
	switch p := property.(type) {
	case *ast.StringNode:
		return p.Value, true
	case *ast.IntegerNode:
		return strconv.Itoa(p.Value), true
	}
	return "", false
}
