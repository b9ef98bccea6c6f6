package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/idemctl/idemctl/config"
	"github.com/idemctl/idemctl/reconcile"
)

// chapter is a command of a story, and what it is about.
type chapter struct {
	about string
	line  []string
	// rests says that the workers come to rest before it.
	rests bool
}

// requeueStory is what an operator does in the morning after a bad night.
var requeueStory = []chapter{
	{
		"The bugs are found, and the fix is deployed. First, one lost task alone.",
		[]string{"requeue", "--code", "effect/lost", "--max", "1", "--yes"},
		false,
	},
	{
		"It went well. Now the others, two of them as canaries.",
		[]string{"requeue", "--queue", "payments", "--queue", "default", "--canary", "2", "--yes"},
		true,
	},
	{"Did they take effect, and only once?", []string{"journal", "verify", "last"}, true},
	{
		"What is done still blocks its IDs and locks. It can go.",
		[]string{"resolve", "--code", "effect/applied-archived", "--yes"},
		false,
	},
	{"That was a mistake? Nothing is lost.", []string{"journal", "restore", "--run", "last", "--all", "--yes"}, false},
	{"What happened, and who did it.", []string{"journal", "list"}, false},
}

// tellRequeue runs the story's commands, each as if it were typed.
func (p *program) tellRequeue(ctx context.Context, shared []string, env config.Environment, rest func(context.Context)) int {
	for i, c := range requeueStory {
		if c.rests {
			rest(ctx)
		}
		if ctx.Err() != nil {
			return exitIncomplete
		}
		words := make([]string, len(c.line))
		for w := range c.line {
			if words[w] = c.line[w]; !strings.HasPrefix(words[w], "--") {
				words[w] = reconcile.ShellQuote(words[w])
			}
		}
		if i > 0 {
			fmt.Fprintln(p.out)
		}
		fmt.Fprintf(p.out, "# %s\n$ idemctl %s\n", c.about, strings.Join(words, " "))
		code := execute(ctx, append(shared[:len(shared):len(shared)], c.line...), p.streams, env)
		if code > exitFindings {
			return code
		}
	}
	return exitDone
}
