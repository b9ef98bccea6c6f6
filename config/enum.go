package config

import "strings"

// Class says what a handler does to the world; it decides whether a repeat is harmless.
type Class int

// The classes a rule may name.
const (
	// ClassUnknown: the rule names no class.
	ClassUnknown Class = iota
	// ClassCreate adds something: a repeat adds it twice.
	ClassCreate
	// ClassIncrement changes an amount: a repeat counts twice.
	ClassIncrement
	// ClassOverwrite writes a whole value: a repeat is harmless.
	ClassOverwrite
	// ClassSetStatus moves something to a state: a repeat is harmless.
	ClassSetStatus
	// ClassDelete removes something: a repeat is harmless.
	ClassDelete
)

var classNames = []string{"unknown", "create", "increment", "overwrite", "set-status", "delete"}

// String gives the word used in the file, or "unknown".
func (c Class) String() string { return enumName(classNames, int(c)) }

func (c *Class) parse(text string) error { return enumParse(classNames, text, (*int)(c)) }

func (*Class) expects() string { return "one of " + strings.Join(classNames[1:], ", ") }

func (*Class) choices() []string { return classNames[1:] }

// Role says what a row of a source proves.
type Role int

// The roles a source of a rule can have.
const (
	// RoleUnknown: no role was named.
	RoleUnknown Role = iota
	// RoleMark: the row says that the work is done.
	RoleMark
	// RoleEffect: the row is the business change itself.
	RoleEffect
	// RoleInbox: the row says that the message was received, not that it was applied.
	RoleInbox
)

var roleNames = []string{"unknown", "mark", "effect", "inbox"}

// String gives the word used in the file, or "unknown".
func (r Role) String() string { return enumName(roleNames, int(r)) }

func (r *Role) parse(text string) error { return enumParse(roleNames, text, (*int)(r)) }

func (*Role) expects() string { return "one of " + strings.Join(roleNames[1:], ", ") }

func (*Role) choices() []string { return roleNames[1:] }

// Hash is the function that turned the raw payload into a stored fingerprint.
type Hash int

// The hashes a fingerprint may use.
const (
	// HashUnknown: no hash was named.
	HashUnknown Hash = iota
	// HashMD5 is MD5 (RFC 1321), in hexadecimal or raw.
	HashMD5
	// HashSHA256 is SHA-256 (FIPS 180-4), in hexadecimal or raw.
	HashSHA256
)

var hashNames = []string{"unknown", "md5", "sha256"}

// String gives the word used in the file, or "unknown".
func (h Hash) String() string { return enumName(hashNames, int(h)) }

func (h *Hash) parse(text string) error { return enumParse(hashNames, text, (*int)(h)) }

func (*Hash) expects() string { return "one of " + strings.Join(hashNames[1:], ", ") }

func (*Hash) choices() []string { return hashNames[1:] }

func enumName(names []string, n int) string {
	if n < 0 || n >= len(names) {
		return names[0]
	}
	return names[n]
}

// enumParse finds text among the names. The first name stands for "not given" and cannot be written.
func enumParse(names []string, text string, into *int) error {
	for n, name := range names[1:] {
		if name == text {
			*into = n + 1
			return nil
		}
	}
	return errNotThat
}
