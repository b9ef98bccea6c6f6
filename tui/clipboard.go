package tui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/idemctl/idemctl/internal/visible"
	"github.com/idemctl/idemctl/reconcile"
)

// What is copied is pasted without another look, mostly into a shell, which runs
// what comes before a newline and shows nothing of a character that hides others.
// So nothing goes to the clipboard but what can be seen.

// copyID copies an ID: as it is, or as the word that a shell reads as that ID.
func (h *hub) copyID(id string) tea.Cmd {
	switch {
	case strings.ContainsRune(id, 0):
		h.say("not copied: the ID holds a NUL, which nothing can be pasted with: " + visible.Fit(safe(id), mostNamed))
		return nil
	case pastesAsItIs(id):
		return copyText(h.opt.Out, visible.Fit(id, mostNamed), id)
	}
	quoted := reconcile.ShellQuote(id)
	return copyText(h.opt.Out, visible.Fit(quoted, mostNamed)+" (quoted for a shell)", quoted)
}

// mostNamed is how many cells of what was copied are said.
const mostNamed = 60

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
