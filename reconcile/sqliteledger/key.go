package sqliteledger

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// longestKey bounds the size of a statement.
const longestKey = 64 << 10

// keyForm is how a column holds keys. A key is looked for in every form in which
// a program may have stored it there: SQLite keeps the type of each value, and
// takes the text 'a' and the bytes x'61' for different.
type keyForm struct{ affinity affinity }

// formOf says how the column holds keys, or why it cannot.
func formOf(c *column) (keyForm, string) {
	f := keyForm{c.affinity()}
	if f.affinity == affinityReal {
		return f, fmt.Sprintf("type %s stores numbers that are not exact", c.declared)
	}
	return f, ""
}

const keyTypesHint = "a key column is TEXT, INTEGER or BLOB"

// number is what SQLite may read as a number, and so may store in a numeric
// column as another value than was written.
var number = regexp.MustCompile(`^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$|(?i)^\s*[+-]?(0x[0-9a-f]+|inf(inity)?|nan)\s*$`)

// fit says why the column cannot hold the key; "" when it can.
func (f keyForm) fit(key string) string {
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
	switch f.affinity {
	case affinityInteger:
		if _, err := strconv.ParseInt(key, 10, 64); err != nil {
			return "it is not an integer of 64 bits"
		}
	case affinityNumeric:
		if _, plain := plainInteger(key); !plain && number.MatchString(key) {
			return "a column of a numeric type stores it as another number"
		}
	}
	return ""
}

// asked is the key as a row's value is spelled when it is read back.
func (f keyForm) asked(key string) string {
	if f.affinity == affinityInteger {
		n, _ := strconv.ParseInt(key, 10, 64)
		return strconv.FormatInt(n, 10)
	}
	return key
}

// asNumber says whether a program may have stored the key as a number.
func (f keyForm) asNumber() bool { return f.affinity != affinityText }

// plainInteger reads a key that is spelled as SQLite prints the number.
func plainInteger(key string) (int64, bool) {
	n, err := strconv.ParseInt(key, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == key
}
