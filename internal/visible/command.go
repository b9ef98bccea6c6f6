package visible

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// FoldCommand breaks a shell command over lines of at most rest cells, the first
// of at most first. Every line but the last ends in a backslash, so that a shell
// reads the same words from the lines as from the command. Words are kept whole
// where they fit; a longer one is closed, continued at the start of the next
// line, and opened again.
func FoldCommand(cmd string, first, rest int) []string {
	if Width(cmd) <= first {
		return []string{cmd}
	}
	const margin = "    "
	var lines []string
	line, room, fresh := "", first, true
	push := func(next string) {
		lines = append(lines, line+`\`)
		line, room, fresh = next, rest, true
	}
	for _, w := range shellWords(cmd) {
		whole := w.String()
		switch {
		case fresh && Width(line)+Width(whole)+2 <= room:
			line += whole
		case !fresh && Width(line)+1+Width(whole)+2 <= room:
			line += " " + whole
		case Width(margin)+Width(whole)+2 <= rest:
			line += " "
			push(margin)
			line += whole
		default:
			// The word itself has to be broken, and goes on at the very start of
			// lines: a margin would end it.
			if !fresh {
				line += " "
				push(margin)
			}
			for _, part := range w.parts(room-Width(line)-2, rest-2) {
				if !fresh {
					push("")
				}
				line += part
				fresh = false
			}
		}
		fresh = false
	}
	return append(lines, line)
}

// shellWord is one word of a command as it is written, in atoms that a line
// break must not part.
type shellWord []shellAtom

type shellAtom struct {
	text  string
	quote string // "", "'" or "$'": what it stands in
}

func (w shellWord) String() string {
	var b strings.Builder
	quote := ""
	for _, a := range w {
		if a.quote != quote {
			b.WriteString(closing(quote) + a.quote)
			quote = a.quote
		}
		b.WriteString(a.text)
	}
	b.WriteString(closing(quote))
	return b.String()
}

func closing(quote string) string {
	if quote == "" {
		return ""
	}
	return "'"
}

// parts cuts the word into pieces that are words by themselves, the first of at
// most first cells and the others of at most rest.
func (w shellWord) parts(first, rest int) []string {
	var parts []string
	start, room := 0, first
	for end := 1; end <= len(w); end++ {
		if end > start+1 && Width(w[start:end].String()) > room {
			parts = append(parts, w[start:end-1].String())
			start, room = end-1, rest
		}
	}
	return append(parts, w[start:].String())
}

// shellWords reads a command that reconcile.ShellQuote has quoted: bare words,
// '…', $'…' and backslash escapes, separated by single spaces.
func shellWords(cmd string) []shellWord {
	var words []shellWord
	var w shellWord
	quote := ""
	for cmd != "" {
		switch {
		case quote == "" && cmd[0] == ' ':
			words = append(words, w)
			w, cmd = nil, cmd[1:]
			continue
		case quote == "" && strings.HasPrefix(cmd, "$'"):
			quote, cmd = "$'", cmd[2:]
			w = append(w, shellAtom{"", quote})
			continue
		case quote == "" && cmd[0] == '\'':
			quote, cmd = "'", cmd[1:]
			w = append(w, shellAtom{"", quote})
			continue
		case quote != "" && cmd[0] == '\'':
			quote, cmd = "", cmd[1:]
			continue
		}
		size := atomSize(cmd, quote)
		w = append(w, shellAtom{cmd[:size], quote})
		cmd = cmd[size:]
	}
	return append(words, w)
}

// atomSize is the length of what must stay together: an escape sequence, or a
// character with its marks.
func atomSize(s, quote string) int {
	if s[0] == '\\' && quote != "'" && len(s) > 1 {
		if quote == "$'" && s[1] == 'x' {
			return min(4, len(s))
		}
		return 2
	}
	g := displaywidth.StringGraphemes(s)
	g.Next()
	return len(g.Value())
}
