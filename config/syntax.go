package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

const (
	// maxFile is the largest configuration file, in bytes.
	maxFile = 256 << 10
	// maxDepth bounds how deep a file may nest before the YAML parser, whose time and stack grow with the depth,
	// is handed it.
	maxDepth = 200
	// maxNodes bounds how many nodes a file may have once its aliases are followed.
	maxNodes = 200_000
)

var byteOrderMark = []byte("\ufeff")

// document is the one YAML document of a file.
type document struct {
	path string
	// root is the document's node; nil when the file is empty or holds only comments.
	root ast.Node
	// aliases gives for each alias the node it stands for. An alias can only stand for a node that ended before
	// it, so following aliases always ends.
	aliases map[*ast.AliasNode]ast.Node
}

// parseDocument reads the syntax of a file. Errors never repeat more of the file than one character.
func parseDocument(path string, content []byte) (doc *document, err *Error) {
	content = bytes.TrimPrefix(content, byteOrderMark)
	if problem, line, column := unreadable(content); problem != "" {
		return nil, errorAt(path, line, column, problem)
	}
	// The parser is another's, and an operator is owed a sentence whatever a file does to it.
	defer func() {
		if cause := recover(); cause != nil {
			doc, err = nil, errorAt(path, 1, 1, "the YAML parser cannot read this file, expected YAML 1.2")
		}
	}()
	file, parseErr := parser.ParseBytes(content, parser.ParseComments, parser.AllowDuplicateMapKey())
	if parseErr != nil {
		return nil, syntaxError(path, parseErr)
	}
	doc = &document{path: path, aliases: map[*ast.AliasNode]ast.Node{}}
	for _, one := range file.Docs {
		if one.Body == nil || one.Body.Type() == ast.CommentType || one.Body.Type() == ast.CommentGroupType {
			continue
		}
		if doc.root != nil {
			at := doc.at(one.Body)
			return nil, errorAt(path, at.line, at.column, "a second YAML document begins, expected one per file")
		}
		doc.root = one.Body
	}
	if unknown := doc.resolveAliases(doc.root, map[string]ast.Node{}); unknown != nil {
		at := doc.at(unknown)
		return nil, errorAt(path, at.line, at.column, "the alias names no anchor that ends before it")
	}
	return doc, nil
}

// unreadable finds what must not reach the parser: too much, too deep, not UTF-8, control characters.
func unreadable(content []byte) (problem string, line, column int) {
	if len(content) > maxFile {
		return fmt.Sprintf("the file has %d bytes, expected at most %d", len(content), maxFile), 1, 1
	}
	number := 0
	depth := 0
	for text := range bytes.Lines(content) {
		number++
		if !utf8.Valid(text) {
			valid := bytes.ToValidUTF8(text, []byte("\x00"))
			return "invalid UTF-8, expected a text file in UTF-8", number, 1 + utf8.RuneCount(valid[:bytes.IndexByte(valid, 0)])
		}
		if at := bytes.IndexFunc(text, isForbidden); at >= 0 {
			return "a control character, expected printable text", number, 1 + utf8.RuneCount(text[:at])
		}
		trimmed := bytes.TrimLeft(text, " \t")
		if bytes.HasPrefix(trimmed, []byte("#")) {
			continue
		}
		depth += bytes.Count(text, []byte("[")) + bytes.Count(text, []byte("{"))
		depth -= bytes.Count(text, []byte("]")) + bytes.Count(text, []byte("}"))
		depth = max(depth, 0)
		if depth > maxDepth || indicators(trimmed) > maxDepth {
			return fmt.Sprintf("nested more than %d deep, expected a configuration", maxDepth), number, 1
		}
	}
	return "", 0, 0
}

// isForbidden follows YAML 1.2.2 section 5.1: C0 controls but tab and line breaks, DEL, and a byte order mark
// inside the text.
func isForbidden(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0x7f || r == '\ufeff'
}

// indicators counts the characters at the start of a line that may each open a level.
func indicators(line []byte) int {
	rest := bytes.TrimLeft(line, "-?:&!* \t")
	return bytes.Count(line[:len(line)-len(rest)], []byte("-")) + bytes.Count(line[:len(line)-len(rest)], []byte("?"))
}

// syntaxError turns the parser's error into ours, without the excerpt of the file that it carries.
func syntaxError(path string, err error) *Error {
	var line, column int
	message := "not valid YAML"
	var detailed yaml.Error
	if errors.As(err, &detailed) {
		message = detailed.GetMessage()
		if tk := detailed.GetToken(); tk != nil && tk.Position != nil {
			line, column = tk.Position.Line, tk.Position.Column
		}
	}
	switch {
	case strings.Contains(message, `character '`+"\t"):
		message = "a tab where a token should begin, expected spaces for indentation"
	case strings.Contains(message, "is a reserved character"):
		message += `, expected a value in quotes`
	case strings.Contains(message, "unknown escape character"):
		message = `an escape that YAML does not know in a double-quoted value, expected "\\" for a backslash, or single quotes`
	case message == "unexpected directive value. document not started":
		message = `a value begins with "%", expected it in quotes`
	default:
		message = "not valid YAML: " + message + ", expected YAML 1.2"
	}
	return errorAt(path, max(line, 1), max(column, 1), message)
}

func errorAt(path string, line, column int, problem string) *Error {
	at := fileSource(path, line, column)
	return &Error{Where: at.Where, Problem: problem, line: line, column: column}
}

func fileSource(path string, line, column int) Source {
	return Source{
		Kind: SourceFile, Where: fmt.Sprintf("%s:%d:%d", path, line, column),
		line: line, column: column,
	}
}

// at gives the place where a node begins.
func (doc *document) at(node ast.Node) Source {
	switch n := node.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return doc.at(n.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return doc.at(n.Key)
	}
	return doc.atToken(node.GetToken())
}

func (doc *document) atToken(tk *token.Token) Source {
	if tk == nil || tk.Position == nil {
		return fileSource(doc.path, 1, 1)
	}
	return fileSource(doc.path, max(tk.Position.Line, 1), max(tk.Position.Column, 1))
}

// resolveAliases walks the document in its order and gives each alias the latest anchor of that name that has
// ended. It returns the first alias that has none.
func (doc *document) resolveAliases(node ast.Node, anchors map[string]ast.Node) (unknown ast.Node) {
	for _, child := range children(node) {
		if unknown := doc.resolveAliases(child, anchors); unknown != nil {
			return unknown
		}
	}
	switch n := node.(type) {
	case *ast.AnchorNode:
		anchors[n.Name.GetToken().Value] = n.Value
	case *ast.AliasNode:
		target, found := anchors[n.Value.GetToken().Value]
		if !found {
			return n
		}
		doc.aliases[n] = target
	}
	return nil
}

// children gives the nodes directly below node, in the order of the document.
func children(node ast.Node) []ast.Node {
	switch n := node.(type) {
	case *ast.MappingNode:
		out := make([]ast.Node, 0, 2*len(n.Values))
		for _, entry := range n.Values {
			out = append(out, entry.Key, entry.Value)
		}
		return out
	case *ast.MappingValueNode:
		return []ast.Node{n.Key, n.Value}
	case *ast.SequenceNode:
		return n.Values
	case *ast.AnchorNode:
		return []ast.Node{n.Value}
	case *ast.TagNode:
		return []ast.Node{n.Value}
	case *ast.MappingKeyNode:
		return []ast.Node{n.Value}
	default:
		return nil
	}
}

// plain follows anchors and aliases to the node that holds the value.
func (doc *document) plain(node ast.Node) ast.Node {
	for {
		switch n := node.(type) {
		case *ast.AnchorNode:
			node = n.Value
		case *ast.AliasNode:
			node = doc.aliases[n]
		default:
			return node
		}
	}
}
