package pgledger

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
)

// longestKey bounds a statement of a thousand keys to what a server takes. No
// B-tree holds a longer value than 2,704 bytes, compressed.
const longestKey = 64 << 10

// keyType says how a column holds keys and how keys are compared with it. Keys
// are compared in the column's own type, so that its index serves.
type keyType uint8

const (
	keyUnknown keyType = iota
	keyText            // text, varchar
	keyChar            // char(n), which ignores trailing spaces
	keyUUID
	keyInteger
	keyBytes // bytea: the key's UTF-8 bytes
	keyTypes // how many there are
)

// arrays are the type and its object identifier of the parameter that holds the
// keys, by key type.
var arrays = [keyTypes]struct {
	name string
	oid  uint32
}{
	keyText:    {"text[]", 1009},
	keyChar:    {"bpchar[]", 1014},
	keyUUID:    {"uuid[]", 2951},
	keyInteger: {"int8[]", 1016},
	keyBytes:   {"bytea[]", 1001},
}

// keyForm is what a key column can hold.
type keyForm struct {
	kind      keyType
	limit     int   // most characters; 0 means no limit
	low, high int64 // of integers
	ascii     bool
}

// formOf says what the column can hold, or why it cannot hold keys.
func formOf(c *column, ascii bool) (keyForm, string) {
	f := keyForm{ascii: ascii}
	switch c.typeOID {
	case oidText, oidVarchar:
		f.kind = keyText
	case oidBpchar:
		f.kind = keyChar
	case oidUUID:
		f.kind = keyUUID
	case oidInt2:
		f.kind, f.low, f.high = keyInteger, math.MinInt16, math.MaxInt16
	case oidInt4:
		f.kind, f.low, f.high = keyInteger, math.MinInt32, math.MaxInt32
	case oidInt8:
		f.kind, f.low, f.high = keyInteger, math.MinInt64, math.MaxInt64
	case oidBytea:
		f.kind = keyBytes
	default:
		return f, "type " + c.typeName + " " + whyNot(c)
	}
	if (f.kind == keyText || f.kind == keyChar) && !c.deterministic {
		return f, "its collation takes different texts for equal"
	}
	if (c.typeOID == oidVarchar || c.typeOID == oidBpchar) && c.modifier >= 4 {
		f.limit = int(c.modifier) - 4
	}
	return f, ""
}

func whyNot(c *column) string {
	switch {
	case strings.HasSuffix(c.typeName, "citext"):
		return "takes different texts for equal"
	case c.typeOID == oidNumeric:
		return "takes 1 and 1.00 for equal"
	}
	return "cannot be compared with a key exactly"
}

const keyTypesHint = "a key column is text, varchar, char, uuid, smallint, integer, bigint or bytea, or a domain over one"

// fit says why the column cannot hold the key; "" when it can.
func (f keyForm) fit(key string) string {
	if reason := unfitText(key); reason != "" {
		return reason
	}
	switch f.kind {
	case keyUUID:
		if _, ok := parseUUID(key); !ok {
			return "it is not a UUID"
		}
		return ""
	case keyInteger:
		n, err := strconv.ParseInt(key, 10, 64)
		if err != nil || n < f.low || n > f.high {
			return fmt.Sprintf("it is not an integer from %d to %d", f.low, f.high)
		}
		return ""
	case keyBytes:
		return ""
	}
	if f.ascii && !isASCII(key) {
		return "the database's encoding is not UTF8, and it is not ASCII"
	}
	if f.kind == keyChar && strings.HasSuffix(key, " ") {
		return "char drops its trailing spaces"
	}
	if f.limit > 0 && utf8.RuneCountInString(key) > f.limit {
		return fmt.Sprintf("it is longer than %d characters", f.limit)
	}
	return ""
}

// unfitText says why no column can hold the key.
func unfitText(key string) string {
	switch {
	case key == "":
		return "it is empty"
	case strings.IndexByte(key, 0) >= 0:
		return "it holds a NUL"
	case !utf8.ValidString(key):
		return "it is not valid UTF-8"
	case len(key) > longestKey:
		return fmt.Sprintf("it is longer than %d bytes", longestKey)
	}
	return ""
}

// byValue says whether keys of different spellings can be one value.
func (t keyType) byValue() bool { return t == keyUUID || t == keyInteger }

// asked is the key as the lookup's statement returns it.
func (t keyType) asked(key string) string {
	switch t {
	case keyUUID:
		u, _ := parseUUID(key)
		return u.String()
	case keyInteger:
		n, _ := strconv.ParseInt(key, 10, 64)
		return strconv.FormatInt(n, 10)
	case keyBytes:
		return hex.EncodeToString([]byte(key))
	}
	return key
}

// expression is the SQL that returns a column's value as the lookup's statement returns it.
func (t keyType) expression(column string) string {
	if t == keyBytes {
		return "encode(" + column + ", 'hex')"
	}
	return column + "::text"
}

// array is the parameter's value for keys in the form in which they are asked.
func (t keyType) array(keys []string) any {
	switch t {
	case keyUUID:
		out := make([][16]byte, len(keys))
		for i, s := range keys {
			out[i] = uuid.MustParse(s)
		}
		return out
	case keyInteger:
		out := make([]int64, len(keys))
		for i, s := range keys {
			out[i], _ = strconv.ParseInt(s, 10, 64)
		}
		return out
	case keyBytes:
		out := make([][]byte, len(keys))
		for i, s := range keys {
			out[i], _ = hex.DecodeString(s)
		}
		return out
	}
	return keys
}

// parseUUID reads a UUID in any spelling the server takes (PostgreSQL
// src/backend/utils/adt/uuid.c, string_to_uuid): 32 digits in either case, in
// braces or not, with a hyphen after any group of four; and as a URN.
func parseUUID(s string) (uuid.UUID, bool) {
	var u uuid.UUID
	if len(s) > 9 && strings.EqualFold(s[:9], "urn:uuid:") {
		s = s[9:]
	} else if len(s) > 2 && s[0] == '{' && s[len(s)-1] == '}' {
		s = s[1 : len(s)-1]
	}
	digits := make([]byte, 0, 32)
	for i := range len(s) {
		if s[i] == '-' {
			if len(digits) == 0 || len(digits)%4 != 0 || s[i-1] == '-' || i == len(s)-1 {
				return u, false
			}
			continue
		}
		if len(digits) == 32 {
			return u, false
		}
		digits = append(digits, s[i])
	}
	if len(digits) != 32 {
		return u, false
	}
	_, err := hex.Decode(u[:], digits)
	return u, err == nil
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
