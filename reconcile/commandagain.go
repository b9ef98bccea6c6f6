package reconcile

import (
	"regexp"
	"strings"
)

// CommandAgain is the command line that plans anew what a run left, from what the
// journal keeps of it: the run's own, under its context, but asking again, or one that
// shows all that could be planned. "" where the journal does not have it.
func CommandAgain(command, context string) string {
	program := "idemctl"
	if context != "" {
		program += " --context=" + ShellQuote(context)
	}
	browsed, byBrowser := strings.CutPrefix(command, "tui: ")
	switch {
	case command == "":
		return ""
	case byBrowser && unnamedTasks.MatchString(browsed):
		return program + " tui --write" // where they were chosen
	case byBrowser && strings.HasPrefix(browsed, "restore "):
		return program + " journal restore --all " + strings.TrimPrefix(browsed, "restore ")
	}
	line := program
	for _, word := range shellWords(browsed) {
		if word != "--yes" && !strings.HasPrefix(word, "--count=") {
			line += " " + word
		}
	}
	for _, repairs := range []string{"integrity repair", "locks release"} {
		// Of these the journal may have what they chose and not the flags.
		if rest, ok := strings.CutPrefix(browsed, repairs); ok && rest != "" && !strings.HasPrefix(rest, " --") {
			return program + " " + repairs + " --all --dry-run"
		}
	}
	return line
}

// unnamedTasks is what the browser keeps of a plan whose tasks it does not name.
var unnamedTasks = regexp.MustCompile(`^[a-z]+ of [0-9]+ tasks?$`)

// shellWords are the words of a line as ShellQuote writes them, quoted still.
func shellWords(line string) []string {
	var words []string
	start, quoted, escapes := 0, false, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && (!quoted || escapes):
			i++
		case c == '\'':
			escapes = !quoted && i > 0 && line[i-1] == '$'
			quoted = !quoted
		case c == ' ' && !quoted:
			words = append(words, line[start:i])
			start = i + 1
		}
	}
	return append(words, line[start:])
}
