package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/tui"
)

// mostNamed bounds how many tasks a command line names.
const mostNamed = 200

// commandOf is the command line that plans the same; "" where there is none.
func (c changer) commandOf(a tui.Ask) string {
	line := reconcile.Command(c.place.Command)
	switch {
	case a.Verb == tui.VerbRestore:
		line = line.Words("journal restore --all").Flag("run", a.Run)
	case a.Signature != nil:
		line = line.Words(string(a.Verb)).Item("code", string(a.Signature.Code)).Flag("where", a.Signature.Where())
	default:
		var ok bool
		if line, ok = naming(line.Words(string(a.Verb)), a.Refs); !ok {
			return ""
		}
	}
	return line.Words(c.place.Flags).String()
}

// noCommand says why there is no command line that plans the same.
func noCommand(a tui.Ask) string {
	if len(a.Refs) > mostNamed {
		return fmt.Sprintf("no command names %d tasks one by one: select them by --queue, --type or --where", len(a.Refs))
	}
	return "no command can name these tasks: an ID or a queue holds what no shell can pass on"
}

// naming adds what selects these tasks and no others. Several queues have an
// expression more, since one ID can be in each of them.
func naming(line reconcile.CommandLine, refs []inspect.Ref) (reconcile.CommandLine, bool) {
	if len(refs) > mostNamed {
		return line, false
	}
	queues := queuesOfRefs(refs)
	for _, q := range queues {
		line = line.Only("queue", q)
	}
	var pairs []string
	for _, r := range refs {
		line = line.Flag("id", r.ID)
		if len(queues) > 1 && !utf8.ValidString(r.Queue+r.ID) {
			return line, false // an expression cannot say it
		}
		pairs = append(pairs, fmt.Sprintf("queue == %s && id == %s", strconv.Quote(r.Queue), strconv.Quote(r.ID)))
	}
	if len(queues) > 1 {
		line = line.Flag("where", strings.Join(pairs, " || "))
	}
	return line, true
}

// commandForJournal is what was done, as the journal keeps it.
func commandForJournal(a tui.Ask) string {
	line := reconcile.Command("tui: " + string(a.Verb))
	switch {
	case a.Verb == tui.VerbRestore:
		line = line.Flag("run", a.Run)
	case a.Signature != nil:
		line = line.Item("code", string(a.Signature.Code)).Flag("where", a.Signature.Where())
	case len(a.Refs) == 1:
		if text, ok := naming(line, a.Refs); ok && text.String() != "" {
			return text.String()
		}
		fallthrough
	default:
		noun := "tasks"
		if len(a.Refs) == 1 {
			noun = "task"
		}
		line = line.Words(fmt.Sprintf("of %d %s", len(a.Refs), noun))
	}
	return line.String()
}

func queuesOfRefs(refs []inspect.Ref) []string {
	var names []string
	for _, r := range refs {
		names = append(names, r.Queue)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
