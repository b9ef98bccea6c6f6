package reconcile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"

	"github.com/idemctl/idemctl/inspect"
)

// Key is a compiled key expression. It is safe for concurrent use.
type Key struct {
	text    string
	program *vm.Program // nil: the task ID itself
	payload bool        // whether the expression looks into the payload
	content bool        // whether it looks at nothing but the type and the payload
	reads   []Field     // of the payload and the headers
	places  map[int]place
}

// keyEnv is what a key expression sees.
type keyEnv struct {
	ID      string            `expr:"id"`
	Type    string            `expr:"type"`
	Queue   string            `expr:"queue"`
	Group   string            `expr:"group"`
	Headers map[string]string `expr:"headers"`
	Payload any               `expr:"payload"`
}

// CompileKey reads a key expression over id, type, queue, payload, headers and
// group; "" and "id" are the task ID. Expressions are expr-lang's. A payload
// that is JSON is seen as its value, another one as its text. JSON numbers keep
// every digit that was written.
func CompileKey(text string) (*Key, error) {
	text = strings.TrimSpace(text)
	if text == "" || text == "id" {
		return &Key{text: "id"}, nil
	}
	fields := &fieldFinder{}
	program, err := expr.Compile(text,
		expr.Env(keyEnv{}),
		expr.Function("_join", joinOperands),
		expr.Patch(fields),
		expr.Patch(joiner{}),
	)
	if err != nil {
		return nil, fmt.Errorf("key expression %q: %s", text, firstLine(err))
	}
	return &Key{text: text, program: program, payload: fields.payload, content: !fields.other, reads: fieldsRead(text), places: placesOf(text)}, nil
}

// String is the expression as it was written.
func (k *Key) String() string { return k.text }

// TaskID says whether the key is the bare task ID.
func (k *Key) TaskID() bool { return k.program == nil }

// Of builds the key of a task. The problem is "" and the key is not, or the
// other way round: then the problem says why there is no key.
func (k *Key) Of(t inspect.Task) (key, problem string) {
	if k.program == nil {
		return textKey(t.ID)
	}
	env := keyEnv{ID: t.ID, Type: t.Type, Queue: t.Queue, Group: t.Group, Headers: t.Headers}
	isJSON := false
	if k.payload {
		var err error
		if env.Payload, isJSON, err = decodePayload(t.Payload); err != nil {
			return "", err.Error()
		}
	}
	value, err := expr.Run(k.program, env)
	if err != nil {
		return "", k.problem(err, env.Payload, isJSON)
	}
	return valueKey(k.text, value)
}

// DecodePayload is the value an expression sees of a payload: its JSON value,
// or its text where it is not JSON. Whole numbers that an int64 holds are ints;
// every other number is a json.Number with the digits as they were written.
func DecodePayload(payload []byte) (any, error) {
	value, _, err := decodePayload(payload)
	return value, err
}

func decodePayload(payload []byte) (value any, isJSON bool, err error) {
	if len(payload) == 0 {
		return nil, false, errors.New("the payload is empty")
	}
	if !utf8.Valid(payload) {
		return nil, false, errors.New("the payload is not UTF-8 text")
	}
	dec := json.NewDecoder(bytes.NewReader(payload))
	dec.UseNumber()
	isJSON = dec.Decode(&value) == nil && len(bytes.TrimSpace(payload[dec.InputOffset():])) == 0
	if !isJSON {
		return string(payload), false, nil
	}
	return plainNumbers(value), true, nil
}

// plainNumbers turns the whole numbers that read the same as an int into ints,
// so that expressions can count with them.
func plainNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = plainNumbers(member)
		}
	case []any:
		for i, element := range v {
			v[i] = plainNumbers(element)
		}
	case json.Number:
		if n, err := strconv.ParseInt(v.String(), 10, 0); err == nil && strconv.FormatInt(n, 10) == v.String() {
			return int(n)
		}
	}
	return v
}

// valueKey turns what an expression gave into the text of a key.
func valueKey(text string, value any) (key, problem string) {
	switch v := value.(type) {
	case nil:
		return "", fmt.Sprintf("%s is missing or null", text)
	case string:
		return textKey(v)
	case json.Number:
		return v.String(), ""
	case bool:
		return "", fmt.Sprintf("%s is a boolean", text)
	case float32, float64:
		return "", fmt.Sprintf("%s was computed as a floating-point number", text)
	case *big.Int:
		return v.String(), ""
	case uint8: // which only an index into a text gives
		return "", fmt.Sprintf("%s is a byte of a text", text)
	}
	switch v := reflect.ValueOf(value); {
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10), ""
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10), ""
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Array:
		return "", fmt.Sprintf("%s is an array", text)
	case v.Kind() == reflect.Map || v.Kind() == reflect.Struct:
		return "", fmt.Sprintf("%s is an object", text)
	}
	return "", fmt.Sprintf("%s is a %T", text, value)
}

// textKey refuses texts that no column can hold as they are.
func textKey(s string) (key, problem string) {
	switch {
	case s == "":
		return "", "the key is empty"
	case strings.IndexByte(s, 0) >= 0:
		return "", "the key holds a NUL byte"
	case !utf8.ValidString(s):
		return "", "the key is not valid UTF-8"
	}
	return s, ""
}

// Reads are the fields of payload and headers that the key is made of.
func (k *Key) Reads() []Field { return k.reads }

// OfContent says whether two tasks of equal type and payload always have equal
// keys.
func (k *Key) OfContent() bool { return k.content }

// fieldFinder notes whether an expression looks at what is costly to make, the
// payload, the shape of the error and the text of it all, and whether at anything besides the type and
// the payload.
type fieldFinder struct{ payload, shapes, texts, other bool }

func (f *fieldFinder) Visit(node *ast.Node) {
	id, ok := (*node).(*ast.IdentifierNode)
	if !ok {
		return
	}
	switch id.Value {
	case "payload":
		f.payload = true
	case "$env":
		f.payload, f.shapes, f.texts, f.other = true, true, true, true
	case "text":
		f.texts = true
	case "error_shape":
		f.shapes = true
	case "id", "queue", "group", "headers":
		f.other = true
	}
}

// joiner makes + join a text and a number by the number's digits, which
// expr-lang refuses to do; keys such as "order-" + payload.id need it.
type joiner struct{}

func (joiner) Visit(node *ast.Node) {
	if b, ok := (*node).(*ast.BinaryNode); ok && b.Operator == "+" {
		ast.Patch(node, &ast.CallNode{
			Callee:    &ast.IdentifierNode{Value: "_join"},
			Arguments: []ast.Node{b.Left, b.Right},
		})
	}
}

func joinOperands(operands ...any) (any, error) {
	left, leftText := operands[0].(string)
	right, rightText := operands[1].(string)
	if leftText || rightText {
		if !leftText {
			s, problem := valueKey("left side of +", operands[0])
			if problem != "" {
				return nil, joinFault(problem)
			}
			left = s
		}
		if !rightText {
			s, problem := valueKey("right side of +", operands[1])
			if problem != "" {
				return nil, joinFault(problem)
			}
			right = s
		}
		return left + right, nil
	}
	a, aok := operands[0].(int)
	b, bok := operands[1].(int)
	if aok && bok {
		sum := new(big.Int).Add(big.NewInt(int64(a)), big.NewInt(int64(b)))
		if sum.IsInt64() {
			return int(sum.Int64()), nil
		}
		return sum, nil
	}
	return nil, joinFault("+ cannot add what is " + kindOf(operands[0]) + " and what is " + kindOf(operands[1]))
}

// firstLine drops the source excerpt that expr-lang puts below its message.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
