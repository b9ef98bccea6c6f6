package sqltext

import "strings"

// Conjuncts splits a condition at its outermost ANDs and takes off the
// parentheses around each part. It is for the text of conditions that a server
// wrote; "" has none.
func Conjuncts(s string) []string {
	s = strings.TrimSpace(s)
	for enclosed(s) {
		s = strings.TrimSpace(s[1 : len(s)-1])
	}
	if s == "" {
		return nil
	}
	var parts []string
	start := 0
	between := false // inside BETWEEN … AND …
	outermost(s, func(i int) {
		switch {
		case wordAt(s, i, "BETWEEN"):
			between = true
		case wordAt(s, i, "AND") && between:
			between = false
		case wordAt(s, i, "AND"):
			parts = append(parts, s[start:i])
			start = i + len("AND")
		}
	})
	if start == 0 {
		return []string{s}
	}
	var out []string
	for _, p := range append(parts, s[start:]) {
		out = append(out, Conjuncts(p)...)
	}
	return out
}

// enclosed says whether one pair of parentheses encloses all of s.
func enclosed(s string) bool {
	if len(s) < 2 || s[0] != '(' || s[len(s)-1] != ')' {
		return false
	}
	outside := 0
	outermost(s, func(int) { outside++ })
	return outside == 0
}

// outermost calls visit for every byte outside of parentheses and quotes, the
// parentheses themselves not included.
func outermost(s string, visit func(i int)) {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\'', '"':
			n, err := closing(s, i, c, false)
			if err != nil {
				return
			}
			if depth == 0 {
				visit(i)
			}
			i += n - 1
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		default:
			if depth == 0 {
				visit(i)
			}
		}
	}
}

// wordAt says whether the word stands at i, in either case, on its own.
func wordAt(s string, i int, word string) bool {
	end := i + len(word)
	return end <= len(s) && strings.EqualFold(s[i:end], word) &&
		!insideWord(s, i) && (end == len(s) || !wordByte(s[end]))
}

// AfterWhere is what follows the outermost WHERE of a statement; "" where there
// is none.
func AfterWhere(s string) string {
	at := -1
	outermost(s, func(i int) {
		if at < 0 && wordAt(s, i, "WHERE") {
			at = i + len("WHERE")
		}
	})
	if at < 0 {
		return ""
	}
	return strings.TrimSpace(s[at:])
}

// Words writes a condition so that spellings of one and the same are equal where
// they differ only in space, in the case of words, or in quotes that a name does
// not need.
func Words(s string) string {
	var b strings.Builder
	lastWord, space := false, false
	for i := 0; i < len(s); {
		piece, word := string(s[i]), wordByte(s[i])
		switch c := s[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			space = true
			i++
			continue
		case c == '\'' || c == '"':
			n, err := closing(s, i, c, false)
			if err != nil {
				return s
			}
			piece = s[i : i+n]
			if name, _, ok := quoted(piece); c == '"' && ok && plain(strings.ToLower(name)) {
				piece, word = strings.ToLower(name), true
			}
			i += n
		default:
			piece = strings.ToLower(piece)
			i++
		}
		if space && word && lastWord {
			b.WriteByte(' ')
		}
		b.WriteString(piece)
		lastWord, space = word, false
	}
	return b.String()
}
