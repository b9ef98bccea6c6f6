package config

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ViewOptions choose how [File.View] shows a file.
type ViewOptions struct {
	// Reveal shows passwords that are written out in the file. References are never followed.
	Reveal bool
	// Sources adds a comment to each value that says where it stands.
	Sources bool
}

// View writes the file as YAML in the order of the schema, without comments: a comment may hold an old password.
// Secrets are masked unless they are references. With Reveal, [Parse] reads the result back to the same values.
func (file *File) View(options ViewOptions) []byte {
	v := viewer{options: options}
	v.block(reflect.ValueOf(file).Elem(), 0, false)
	return []byte(v.out.String())
}

type viewer struct {
	options ViewOptions
	out     strings.Builder
}

// block writes the keys of a struct that are set, each on a line of its own. A block that stands in a list has
// its first line begun already ("- ").
func (v *viewer) block(block reflect.Value, indent int, begun bool) {
	for field := range fieldsOf(block.Type()) {
		value := block.FieldByIndex(field.Index)
		if isEmpty(value) {
			continue
		}
		if !begun {
			v.indent(indent)
		}
		begun = false
		v.out.WriteString(field.Tag.Get("yaml") + ":")
		v.value(value, indent)
	}
}

func (v *viewer) value(value reflect.Value, indent int) {
	switch {
	case value.Type() == flagsType:
		v.out.WriteString("\n")
		flags := value.Interface().(map[string]Setting[[]string])
		for _, name := range slices.Sorted(maps.Keys(flags)) {
			v.indent(indent + 2)
			v.out.WriteString(name + ": " + listText(flags[name].Value))
			v.end(flags[name].Source)
		}
	case value.Kind() == reflect.Pointer:
		v.value(value.Elem(), indent)
	case value.Kind() == reflect.Slice:
		v.out.WriteString("\n")
		for n := range value.Len() {
			v.indent(indent + 2)
			v.out.WriteString("-")
			v.item(value.Index(n), indent+2)
		}
	case isScalar(value):
		v.scalar(value)
	default:
		v.out.WriteString("\n")
		v.block(value, indent+2, false)
	}
}

func (v *viewer) item(value reflect.Value, indent int) {
	switch {
	case isScalar(value):
		v.scalar(value)
	case isEmpty(value):
		v.out.WriteString(" {}\n")
	default:
		v.out.WriteString(" ")
		v.block(value, indent+2, true)
	}
}

func (v *viewer) scalar(value reflect.Value) {
	setting := value.Addr().Interface()
	v.out.WriteString(" ")
	switch s := setting.(type) {
	case *Setting[Secret]:
		v.out.WriteString(yamlText(v.secret(s.Value.Reveal())))
	case *Setting[ConnString]:
		v.out.WriteString(yamlText(v.conn(s.Value.Reveal())))
	case *Setting[[]string]:
		v.out.WriteString(v.addresses(s.Value))
	case *Setting[bool], *Setting[int]:
		v.out.WriteString(textOf(setting))
	default:
		v.out.WriteString(yamlText(textOf(setting)))
	}
	v.end(setting.(sourced).source())
}

func (v *viewer) secret(text string) string {
	if v.options.Reveal || !isLiteral(text) {
		return text
	}
	return masked
}

func (v *viewer) conn(text string) string {
	if v.options.Reveal || strings.HasPrefix(text, fileReference) {
		return text
	}
	shown, _ := maskReferences(text)
	return shown
}

// addresses writes a list of servers. Something there that is no address may be a secret in the wrong place.
func (v *viewer) addresses(list []string) string {
	if v.options.Reveal {
		return listText(list)
	}
	return listText(strings.Split(shownAddresses(list), ","))
}

// shownAddresses joins host:port pairs with commas, each as [Mask] leaves it.
func shownAddresses(list []string) string {
	shown := make([]string, len(list))
	for n, address := range list {
		shown[n], _ = maskReferences(address)
	}
	return strings.Join(shown, ",")
}

func (v *viewer) indent(by int) { v.out.WriteString(strings.Repeat(" ", by)) }

func (v *viewer) end(source Source) {
	if v.options.Sources {
		v.out.WriteString(" # " + source.String())
	}
	v.out.WriteString("\n")
}

// plainText is what YAML reads back as the same text without quotes.
var plainText = regexp.MustCompile(`^(?:[A-Za-z/$][A-Za-z0-9_./:${}@%+()=-]*|(?:[0-9]+[dhms])+)$`)

// notText are plain words that YAML 1.2 or 1.1 readers take for something other than text.
var notText = setOf("true", "false", "null", "yes", "no", "on", "off", "y", "n")

// yamlText writes a text as a YAML scalar: plain where that is safe, else in double quotes.
func yamlText(text string) string {
	if plainText.MatchString(text) && !notText[strings.ToLower(text)] && !strings.HasSuffix(text, ":") {
		return text
	}
	return strconv.Quote(text)
}

func listText(list []string) string {
	quoted := make([]string, len(list))
	for n, text := range list {
		quoted[n] = strconv.Quote(text)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// isScalar reports whether a value of the schema is a Setting.
func isScalar(value reflect.Value) bool {
	_, ok := value.Addr().Interface().(scalar)
	return ok
}

// isEmpty reports whether nothing in a value of the schema is set.
func isEmpty(value reflect.Value) bool {
	switch {
	case value.Kind() == reflect.Map || value.Kind() == reflect.Slice:
		return value.Len() == 0
	case value.Kind() == reflect.Pointer:
		return value.IsNil()
	case isScalar(value):
		return value.Interface().(sourced).source().Kind == SourceUnset
	}
	for field := range fieldsOf(value.Type()) {
		if !isEmpty(value.FieldByIndex(field.Index)) {
			return false
		}
	}
	return true
}
