package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/inspect"
)

// restartFlag lets a command go on with a Redis whose run ID is not the journal's.
// What such a server does not have is no proof: it may have lost it when it was
// started again, or be another one, behind the same address or tunnel.
type restartFlag struct{ accept bool }

func (r *restartFlag) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&r.accept, "accept-restart", false, "take a Redis of the same address and another run ID for the one of the journal")
}

// restartedWords say what is known of a Redis that the journal knows by another run
// ID; "" where there is none among the ones that the journal names.
func restartedWords(server inspect.Identity, journalled []string) string {
	i := slices.IndexFunc(journalled, server.Restarted)
	if i < 0 {
		return ""
	}
	return fmt.Sprintf("the journal has the Redis %s, and this is %s: it was started again or failed over since, or its address leads to another server", journalled[i], server)
}

// check warns whoever is asked before anything is changed, and refuses where nobody
// is asked or would read the warning (--quiet).
func (r *restartFlag) check(p *program, c *changeFlags, server inspect.Identity, journalled []string) error {
	words := restartedWords(server, journalled)
	switch {
	case words == "" || r.accept:
		return nil
	case c.dryRun || p.inTerminal && !c.yes && !p.log.quiet:
		p.log.warnf("%s", words)
		return nil
	}
	return &usageError{err: fmt.Errorf("%s", words), hint: "look whether it holds the same data (idemctl doctor, idemctl tasks); --accept-restart then goes on"}
}
