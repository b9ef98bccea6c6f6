package tui

import (
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/idemctl/idemctl/reconcile"
)

// What is copied is pasted without another look, mostly into a shell, which runs
// what comes before a newline and shows nothing of a character that hides others.
// So nothing goes to the clipboard but what can be seen.

// copied says what came of a text for the clipboard.
type copied struct {
	what string
	err  error
}

// copyText asks the terminal to take a text into its clipboard (OSC 52). No
// terminal answers. A text with anything that does not show is refused.
func copyText(w io.Writer, what, text string) tea.Cmd {
	return func() tea.Msg {
		if safe(text) != text {
			return copied{what, fmt.Errorf("%s has characters that do not show, and may do something where it is pasted", what)}
		}
		_, err := io.WriteString(w, "\x1b]52;c;"+base64.StdEncoding.EncodeToString([]byte(text))+"\x07")
		return copied{what, err}
	}
}

// copyID copies an ID: as it is, or as the word that a shell reads as that ID.
func (h *hub) copyID(id string) tea.Cmd {
	switch {
	case strings.ContainsRune(id, 0):
		h.say("not copied: the ID holds a NUL, which nothing can be pasted with: " + safe(id))
		return nil
	case pastesAsItIs(id):
		return copyText(h.opt.Out, id, id)
	}
	quoted := reconcile.ShellQuote(id)
	return copyText(h.opt.Out, quoted+" (quoted for a shell)", quoted)
}

// pastesAsItIs says whether a shell takes a text for one word without quotes, and a
// reader sees all of it. Letters and digits of every script are harmless.
func pastesAsItIs(s string) bool {
	ascii := strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return 'x'
		}
		return r
	}, s)
	return reconcile.ShellQuote(ascii) == ascii && safe(s) == s
}
