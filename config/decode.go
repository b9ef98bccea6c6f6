package config

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// decoder fills the schema from a document. It goes on after a mistake, so that one run reports many.
type decoder struct {
	*findings
	doc *document
	// nodes counts what was visited, aliases followed, so that few bytes cannot become much work.
	nodes int
}

var (
	sourceType = reflect.TypeFor[Source]()
	flagsType  = reflect.TypeFor[map[string]Setting[[]string]]()
)

// flagName is what a long flag may be called.
var flagName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)

// holdsSecrets reports whether a block of that type may hold passwords: its errors repeat nothing that it says.
func holdsSecrets(block reflect.Type) bool {
	return block == reflect.TypeFor[Redis]() || block == reflect.TypeFor[Ledger]()
}

// spent counts one node and reports whether the file has too many.
func (d *decoder) spent(at Source) bool {
	d.nodes++
	if d.nodes == maxNodes+1 {
		d.errorf(at, "", "more than %d values once aliases are followed, expected fewer", maxNodes)
	}
	return d.nodes > maxNodes
}

// value decodes node into target, an addressable value of a type of the schema. key is its path in the file, at
// its place when node holds nothing.
func (d *decoder) value(node ast.Node, target reflect.Value, key string, at Source, secret bool) {
	node = d.doc.plain(node)
	if d.spent(at) {
		return
	}
	if node == nil || node.Type() == ast.NullType {
		d.null(target, key, at)
		return
	}
	switch {
	case target.Type() == flagsType:
		d.flags(node, target, key)
	case target.Kind() == reflect.Pointer:
		target.Set(reflect.New(target.Type().Elem()))
		d.value(node, target.Elem(), key, at, secret)
	case target.Kind() == reflect.Slice:
		d.sequence(node, target, key)
	default:
		if into, ok := target.Addr().Interface().(scalar); ok {
			d.scalar(node, into, key, secret)
			return
		}
		d.block(node, target, key)
	}
}

// null handles "key:" with nothing behind it. For lists and for blocks that are always there it is as if the key
// were not, so that all of their lines can be commented out. Elsewhere a value was meant and is missing.
func (d *decoder) null(target reflect.Value, key string, at Source) {
	if into, ok := target.Addr().Interface().(scalar); ok {
		d.errorf(at, key, "no value, expected %s", into.expects())
		return
	}
	if target.Kind() == reflect.Pointer {
		d.errorf(at, key, "no value, expected a mapping with %s", strings.Join(keysOf(target.Type().Elem()), ", "))
	}
}

// block decodes a mapping into a struct.
func (d *decoder) block(node ast.Node, target reflect.Value, key string) {
	names := keysOf(target.Type())
	mapping, ok := node.(ast.MapNode)
	if !ok {
		d.errorf(d.doc.at(node), key, "%s, expected a mapping with %s", kindOf(node), strings.Join(names, ", "))
		return
	}
	if field := target.FieldByName("Source"); field.IsValid() && field.Type() == sourceType {
		field.Set(reflect.ValueOf(d.doc.at(node)))
	}
	secret := holdsSecrets(target.Type())
	for _, entry := range d.entries(mapping, key, secret) {
		field := fieldOf(target, entry.name)
		if !field.IsValid() {
			d.unknownKey(entry, key, names, secret)
			continue
		}
		d.value(entry.value, field, join(key, entry.name), entry.at, secret)
	}
}

// unknownKey reports a key that the schema lacks. Where passwords stand, a piece of one can look like a key
// (a comma in {…}), so there only a key that resembles a known one is repeated.
func (d *decoder) unknownKey(entry entry, key string, names []string, secret bool) {
	near := didYouMean(entry.name, names)
	known := strings.Join(names, ", ")
	switch {
	case near != "":
		d.errorf(entry.at, key, "unknown key %s, expected one of %s%s", echo(entry.name), known, near)
	case secret:
		d.errorf(entry.at, key, "unknown key (not repeated here, for it may be part of a secret), expected one of %s", known)
	default:
		d.errorf(entry.at, key, "unknown key %s, expected one of %s", echo(entry.name), known)
	}
}

// sequence decodes a list.
func (d *decoder) sequence(node ast.Node, target reflect.Value, key string) {
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		d.errorf(d.doc.at(node), key, "%s, expected a list (lines that begin with \"- \")", kindOf(node))
		return
	}
	out := reflect.MakeSlice(target.Type(), len(list.Values), len(list.Values))
	for n, item := range list.Values {
		itemKey, at := fmt.Sprintf("%s[%d]", key, n), d.doc.at(item)
		if plain := d.doc.plain(item); plain == nil || plain.Type() == ast.NullType {
			if !list.IsFlowStyle && n < len(list.Entries) {
				at = d.doc.atToken(list.Entries[n].Start)
			}
			d.errorf(at, itemKey, "an empty list entry, expected a value or no entry")
			continue
		}
		d.value(item, out.Index(n), itemKey, at, false)
	}
	target.Set(out)
}

// scalar decodes a single value, and the lists that may also be written as one text with commas.
func (d *decoder) scalar(node ast.Node, into scalar, key string, secret bool) {
	at := d.doc.at(node)
	if list, ok := into.(*Setting[[]string]); ok && node.Type() == ast.SequenceType {
		d.texts(node.(*ast.SequenceNode), list, key, secret)
		return
	}
	text, quoted, ok := scalarText(node)
	if !ok {
		d.errorf(at, key, "%s, expected %s", kindOf(node), into.expects())
		return
	}
	if quoted && !into.quotable() {
		d.errorf(at, key, "a text in quotes, expected %s without quotes", into.expects())
		return
	}
	d.assign(into, text, at, key, secret)
}

// assign gives text to a setting and reports what is wrong with it.
func (f *findings) assign(into scalar, text string, at Source, key string, secret bool) {
	err := into.assign(text, at)
	if err == nil {
		return
	}
	detail := err.Error()
	if detail != "" {
		detail = " (" + detail + ")"
	}
	if secret {
		f.errorf(at, key, "not a valid value%s, expected %s", detail, into.expects())
		return
	}
	f.errorf(at, key, "%s is not valid%s, expected %s%s", echo(text), detail, into.expects(), didYouMean(text, into.choices()))
}

// texts decodes a list of plain texts that share one Setting.
func (d *decoder) texts(list *ast.SequenceNode, into *Setting[[]string], key string, secret bool) {
	var out []string
	for n, item := range list.Values {
		var one Setting[string]
		d.value(item, reflect.ValueOf(&one).Elem(), fmt.Sprintf("%s[%d]", key, n), d.doc.at(item), secret)
		out = append(out, one.Value)
	}
	if len(out) == 0 {
		d.errorf(d.doc.at(list), key, "an empty list, expected at least one entry")
		return
	}
	*into = Setting[[]string]{Value: out, Source: d.doc.at(list)}
}

// flags decodes the mapping of flag names to values. Which flags exist is known to [Resolve] only.
func (d *decoder) flags(node ast.Node, target reflect.Value, key string) {
	mapping, ok := node.(ast.MapNode)
	if !ok {
		d.errorf(d.doc.at(node), key, "%s, expected a mapping of flag names to values", kindOf(node))
		return
	}
	flags := map[string]Setting[[]string]{}
	for _, entry := range d.entries(mapping, key, false) {
		if !flagName.MatchString(entry.name) {
			d.errorf(entry.at, key, "%s is no flag name, expected one such as page-size", echo(entry.name))
			continue
		}
		var value Setting[[]string]
		entryKey := join(key, entry.name)
		node := d.doc.plain(entry.value)
		if list, ok := node.(*ast.SequenceNode); ok {
			d.texts(list, &value, entryKey, false)
		} else {
			var one Setting[string]
			d.value(entry.value, reflect.ValueOf(&one).Elem(), entryKey, entry.at, false)
			value = Setting[[]string]{Value: []string{one.Value}, Source: one.Source}
		}
		if value.IsSet() {
			flags[entry.name] = value
		}
	}
	target.Set(reflect.ValueOf(flags))
}
