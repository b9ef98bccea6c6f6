package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/idemctl/idemctl/reconcile"
)

// commandWords are the command and the flags that are in force, for the journal and
// for plans: those that were given, and those that the environment or the file set,
// without which the same line would mean other tasks tomorrow. What says where to
// connect is left out: it may hold secrets, and the context names it.
func commandWords(cmd *cobra.Command, args ...string) string {
	line := reconcile.Command(strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" "))
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !wasSet(f) || saysWhere(f.Name) || cmd.Root().PersistentFlags().Lookup(f.Name) != nil {
			return
		}
		for _, v := range flagValues(f) {
			line = withFlag(line, f, v)
		}
	})
	return line.Operands(args...).String()
}
