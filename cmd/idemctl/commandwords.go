package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/idemctl/idemctl/reconcile"
)

// commandWords are the command and the flags that were given, for the journal and
// for plans. What says where to connect is left out: it may hold secrets, and the
// context names it.
func commandWords(cmd *cobra.Command, args ...string) string {
	words := []string{strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")}
	for _, a := range args {
		words = append(words, reconcile.ShellQuote(a))
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if saysWhere(f.Name) || cmd.Root().PersistentFlags().Lookup(f.Name) != nil {
			return
		}
		for _, v := range flagValues(f) {
			word := "--" + f.Name
			if f.Value.Type() != "bool" || v != "true" {
				word += "=" + reconcile.ShellQuote(v)
			}
			words = append(words, word)
		}
	})
	return strings.Join(words, " ")
}
