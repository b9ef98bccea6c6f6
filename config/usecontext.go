package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// UseContext makes current_context in the file at path name that context. Only this value changes: every other
// byte, comments and line ends included, stays, and so do mode and owner. The file is replaced in one step. A name
// that no context has, a file with mistakes elsewhere, and a current_context that is an alias or spans lines are
// errors, and then nothing is written.
func UseContext(path, name string) error {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &Error{
			Problem: fmt.Sprintf("there is no configuration file %s", path),
			Hint:    "idemctl config init", cause: fs.ErrNotExist,
		}
	}
	if err != nil {
		return fmt.Errorf("cannot read the configuration: %w", err)
	}
	edited, err := withCurrentContext(path, content, name)
	if err != nil {
		return err
	}
	if bytes.Equal(edited, content) {
		return nil
	}
	if err := replace(path, edited); err != nil {
		return fmt.Errorf("cannot write the configuration: %w", err)
	}
	return nil
}

// withCurrentContext gives content with current_context set to name. What it did is checked by reading the result
// back: it must say the same as before in everything else.
func withCurrentContext(path string, content []byte, name string) ([]byte, error) {
	before, found := parse(path, content)
	// A current_context that is wrong is what this command mends.
	found.errors = slices.DeleteFunc(found.errors, func(e *Error) bool { return e.Key == "current_context" })
	if err := found.err(); err != nil {
		return nil, err
	}
	if names := before.names(); !slices.Contains(names, name) {
		return nil, &Error{
			Where:   path,
			Problem: fmt.Sprintf("no context is named %s, expected %s%s", echo(name), oneOf(names), didYouMean(name, names)),
			Hint:    "idemctl config contexts",
		}
	}
	edited, err := spliceCurrentContext(path, content, name)
	if err != nil {
		return nil, err
	}
	after, err := Parse(path, edited)
	if err != nil || after.CurrentContext.Value != name || !sameContexts(before, after) {
		return nil, &Error{
			Where:   path,
			Problem: fmt.Sprintf("current_context cannot be changed without touching the rest, expected it to be set to %s by hand", echo(name)),
		}
	}
	return edited, nil
}

// sameContexts compares all that two files say but for current_context, and not where it stands.
func sameContexts(a, b *File) bool {
	one, other := *a, *b
	one.CurrentContext, other.CurrentContext = Setting[string]{}, Setting[string]{}
	return bytes.Equal(one.View(ViewOptions{Reveal: true}), other.View(ViewOptions{Reveal: true}))
}

// spliceCurrentContext puts name where current_context stands, or adds the key before the first one.
func spliceCurrentContext(path string, content []byte, name string) ([]byte, error) {
	mark := len(content) - len(bytes.TrimPrefix(content, byteOrderMark))
	doc, syntax := parseDocument(path, content)
	if syntax != nil {
		return nil, syntax
	}
	mapping, ok := doc.plain(doc.root).(*ast.MappingNode)
	if !ok || len(mapping.Values) == 0 {
		return nil, &Error{Where: path, Problem: "the file is not a mapping, expected contexts"}
	}
	text := yamlText(name)
	for _, entry := range mapping.Values {
		if key, _, _ := scalarText(entry.Key); key != "current_context" {
			continue
		}
		start, end, ok := span(content[mark:], doc, entry)
		if !ok {
			at := doc.at(entry.Key)
			return nil, errorAt(path, at.line, at.column, fmt.Sprintf("current_context is not a plain value on one line, expected it to be set to %s by hand", echo(name)))
		}
		if start == end {
			text = " " + text
		}
		return slices.Concat(content[:mark+start], []byte(text), content[mark+end:]), nil
	}
	if mapping.IsFlowStyle {
		at := mark + offsetOf(content[mark:], doc.at(mapping)) + len("{")
		return slices.Concat(content[:at], []byte("current_context: "+text+", "), content[at:]), nil
	}
	first := doc.at(mapping.Values[0].Key)
	at := mark + lineBefore(content[mark:], first.line)
	line := strings.Repeat(" ", first.column-1) + "current_context: " + text + lineEnd(content)
	return slices.Concat(content[:at], []byte(line), content[at:]), nil
}

// span gives the bytes of an entry's value. For a key without a value they are the empty span behind the colon.
func span(content []byte, doc *document, entry *ast.MappingValueNode) (start, end int, ok bool) {
	switch value := entry.Value.(type) {
	case *ast.NullNode:
		if value.Token.Value == "~" || value.Token.Type == token.NullType && strings.TrimSpace(value.Token.Origin) != "" {
			start = offsetOf(content, doc.at(value))
			end = start + len(strings.TrimSpace(value.Token.Origin))
			if bytes.HasPrefix(content[start:], []byte(strings.TrimSpace(value.Token.Origin))) {
				return start, end, true
			}
		}
		at := offsetOf(content, doc.at(entry))
		colon := bytes.IndexByte(content[at:], ':')
		return at + colon + 1, at + colon + 1, colon >= 0
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		written := strings.TrimSpace(value.GetToken().Origin)
		start = offsetOf(content, doc.at(value))
		return start, start + len(written), !strings.ContainsAny(written, "\r\n") &&
			bytes.HasPrefix(content[start:], []byte(written))
	default:
		return 0, 0, false
	}
}

// offsetOf turns a line and a column in characters into an offset in bytes.
func offsetOf(content []byte, at Source) int {
	offset := 0
	for n, line := range slices.Collect(bytes.Lines(content)) {
		if n+1 < at.line {
			offset += len(line)
			continue
		}
		runes := []rune(string(line))
		return offset + len(string(runes[:min(at.column-1, len(runes))]))
	}
	return offset
}

// lineBefore gives the offset of the line with that number, or of the comment that stands right above it.
func lineBefore(content []byte, number int) int {
	lines := slices.Collect(bytes.Lines(content))
	first := number - 1
	for first > 0 && bytes.HasPrefix(bytes.TrimLeft(lines[first-1], " \t"), []byte("#")) {
		first--
	}
	return len(bytes.Join(lines[:first], nil))
}

// lineEnd is how the lines of a file end.
func lineEnd(content []byte) string {
	if bytes.Contains(content, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}
