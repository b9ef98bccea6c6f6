package config

import (
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// entry is one "key: value" of a mapping.
type entry struct {
	name  string
	at    Source
	value ast.Node
}

// entries lists a mapping, its merge keys ("<<: *base") resolved: a key of the mapping itself beats one merged in.
func (d *decoder) entries(mapping ast.MapNode, key string, secret bool) []entry {
	var out []entry
	var merged []ast.Node
	seen := map[string]Source{}
	for items := mapping.MapRange(); items.Next(); {
		item := items.KeyValue()
		at := d.doc.at(item.Key)
		if item.Key.IsMergeKey() {
			merged = append(merged, item.Value)
			continue
		}
		name, _, ok := scalarText(d.doc.plain(item.Key))
		if !ok || item.Key.Type() == ast.MappingKeyType {
			d.errorf(at, key, "a key that is not a plain word, expected \"key: value\"")
			continue
		}
		if first, twice := seen[name]; twice {
			shown := "a key"
			if !secret {
				shown = "key " + echo(name)
			}
			d.errorf(at, key, "%s is here twice (first at line %d), expected it once", shown, first.line)
			continue
		}
		seen[name] = at
		out = append(out, entry{name: name, at: at, value: item.Value})
	}
	return append(out, d.merged(merged, seen, key, secret)...)
}

// merged lists the entries that "<<" brings in and that are not in seen.
func (d *decoder) merged(nodes []ast.Node, seen map[string]Source, key string, secret bool) []entry {
	var out []entry
	for _, node := range nodes {
		at := d.doc.at(node)
		node = d.doc.plain(node)
		if list, ok := node.(*ast.SequenceNode); ok {
			out = append(out, d.merged(list.Values, seen, key, secret)...)
			continue
		}
		mapping, ok := node.(ast.MapNode)
		if !ok {
			d.errorf(at, key, "\"<<\" merges %s, expected an alias of a mapping", kindOf(node))
			continue
		}
		if d.spent(at) {
			return out
		}
		for _, entry := range d.entries(mapping, key, secret) {
			if _, known := seen[entry.name]; !known {
				seen[entry.name] = entry.at
				out = append(out, entry)
			}
		}
	}
	return out
}

// scalarText gives the text of a scalar as it is written, without quotes. Numbers and booleans keep their
// spelling, so that a password 007 stays 007.
func scalarText(node ast.Node) (text string, quoted, ok bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		quoted = n.Token.Type == token.SingleQuoteType || n.Token.Type == token.DoubleQuoteType
		return n.Value, quoted, true
	case *ast.LiteralNode:
		return n.Value.Value, true, true
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return node.GetToken().Value, false, true
	default:
		return "", false, false
	}
}

// kindOf names what a node is, for errors.
func kindOf(node ast.Node) string {
	switch node.(type) {
	case ast.MapNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.TagNode:
		return "a value with a tag"
	case *ast.NullNode:
		return "no value"
	default:
		return "a single value"
	}
}
