package reconcile

import (
	"slices"
	"strconv"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
)

// Field is a path that a key expression reads: "payload" or "headers", then the
// members and the numbers of elements, as far as they can be told without a payload.
// The path {"payload"} alone may be any field of it.
type Field []string

// fieldsRead are the fields that an expression reads, the longest paths that it
// spells out: of payload.card.number it is not {"payload", "card"}. What is computed,
// as in payload[id], ends the path that leads to it.
func fieldsRead(text string) []Field {
	tree, err := parser.Parse(text)
	if err != nil {
		return []Field{{"payload"}, {"headers"}} // the compiler has said what is wrong
	}
	r := &fieldReader{inner: map[ast.Node]bool{}}
	ast.Walk(&tree.Node, r)
	var fields []Field
	for _, at := range r.ends {
		if !r.inner[at.node] {
			fields = append(fields, at.field)
		}
	}
	return fields
}

// fieldReader notes each node that is a path. The walk comes to a node after what is
// in it, so that the longest of each comes last.
type fieldReader struct {
	ends  []fieldAt
	inner map[ast.Node]bool // paths that a longer one goes through
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
