package reconcile

import (
	"slices"
	"strings"
)

// CommandLine is a command for a POSIX shell in the making. IDs, types and names of
// queues are anybody's text: each becomes one word that a shell passes on unchanged
// and that idemctl reads as that ID, type or queue and nothing else. It is made by
// Command, and every step gives a new one.
type CommandLine struct {
	words    string
	operands []string
	lost     bool // no shell can pass all of it on
}

// Command begins a command line with words of the program's own.
func Command(words string) CommandLine { return CommandLine{words: words} }

// Words adds words as they stand, before all operands; "" adds none.
func (c CommandLine) Words(words string) CommandLine {
	if words != "" {
		c.words += " " + words
	}
	return c
}

// Flag adds a flag with its value.
func (c CommandLine) Flag(name, value string) CommandLine {
	c.lost = c.lost || !passes(value)
	return c.Words("--" + name + "=" + ShellQuote(value))
}

// Only adds a flag that takes a list of globs (--queue, --type), with the pattern
// that matches the one name (and a name that is spelled like that pattern, since
// names are taken as they are too).
func (c CommandLine) Only(flag, name string) CommandLine {
	c.lost = c.lost || name == "" // which is all names
	return c.Item(flag, globQuoted.Replace(name))
}

// Item adds a flag that takes a list, with one item of it. The list is CSV (RFC
// 4180), whose reader makes \n of \r\n.
func (c CommandLine) Item(flag, item string) CommandLine {
	c.lost = c.lost || strings.Contains(item, "\r\n")
	if strings.ContainsAny(item, ",\"\r\n") {
		item = `"` + strings.ReplaceAll(item, `"`, `""`) + `"`
	}
	return c.Flag(flag, item)
}

// Operands adds what is told by its place and not by a flag: it stands at the end,
// behind "--" where it looks like a flag.
func (c CommandLine) Operands(texts ...string) CommandLine {
	c.lost = c.lost || slices.ContainsFunc(texts, func(s string) bool { return !passes(s) })
	c.operands = append(slices.Clone(c.operands), texts...)
	return c
}

// String is the line, or "" where no command line can say it, such as a NUL.
func (c CommandLine) String() string {
	if c.lost {
		return ""
	}
	line := c.words
	if slices.ContainsFunc(c.operands, func(s string) bool { return strings.HasPrefix(s, "-") }) {
		line += " --"
	}
	for _, s := range c.operands {
		line += " " + ShellQuote(s)
	}
	return line
}

// passes says whether a program can be given the text as an argument: they end at
// their first NUL.
func passes(s string) bool { return !strings.ContainsRune(s, 0) }

// globQuoted takes from the characters of a glob what they mean in it.
var globQuoted = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)
