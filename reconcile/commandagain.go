package reconcile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Again is what a run left, and how a new one finds it.
type Again struct {
	Command string // the run's own, as the journal keeps it; "" where it does not have it
	Context string // the run's; "" for none
	Flags   string // more of the program's own flags, as they stand
	Left    int    // items that were planned and never begun
}

// String is the command line that plans anew what was left: the run's own, under its
// context, but asking again and for no more than that, or one that shows all that
// could be planned. "" where the journal does not have it.
func (a Again) String() string {
	command, program := a.Command, "idemctl"
	if a.Context != "" {
		program += " --context=" + ShellQuote(a.Context)
	}
	browsed, byBrowser := strings.CutPrefix(command, "tui: ")
	switch {
	case command == "":
		return ""
	case byBrowser && unnamedTasks.MatchString(browsed):
		return a.flagged(program + " tui --write") // where they were chosen
	case byBrowser && strings.HasPrefix(browsed, "restore "):
		return a.flagged(program + " journal restore --all " + strings.TrimPrefix(browsed, "restore "))
	}
	for _, repairs := range []string{"integrity repair", "locks release"} {
		// Of these the journal may have what they chose and not the flags.
		if rest, ok := strings.CutPrefix(browsed, repairs); ok && rest != "" && !strings.HasPrefix(rest, " --") {
			return a.flagged(program + " " + repairs + " --all --dry-run")
		}
	}
	flags, operands := shellWords(browsed), []string(nil)
	if i := slices.Index(flags, "--"); i >= 0 {
		flags, operands = flags[:i], flags[i:]
	}
	line := program
	for _, word := range flags {
		switch {
		case word == "--yes", strings.HasPrefix(word, "--count="):
		case a.Left > 0 && strings.HasPrefix(word, "--max="):
			line += fmt.Sprintf(" --max=%d", a.Left)
		default:
			line += " " + word
		}
	}
	return strings.Join(append([]string{a.flagged(line)}, operands...), " ")
}

func (a Again) flagged(line string) string {
	if a.Flags == "" {
		return line
	}
	return line + " " + a.Flags
}

// Resumes says that a run settles what others left open: what it never began stays
// open, and another such run takes it up.
func Resumes(command string) bool {
	return command == "journal resume" || strings.HasPrefix(command, "journal resume ")
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
