package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/idemctl/idemctl/reconcile"
)

// A command that is offered for copying has to find the same place. The flags that
// said where that is are repeated in it, except what is a secret or may hold one.

// sameFlags are the flags that said where to look, as the browser's lines need them:
// their context is said elsewhere, and what is left out leaves a sign.
func sameFlags(cmd *cobra.Command, given []string) string {
	line := reconcile.CommandLine{}
	for _, name := range given {
		f := cmd.Flags().Lookup(strings.TrimPrefix(name, "--"))
		if f == nil || f.Name == "context" {
			continue
		}
		for _, v := range flagValues(f) {
			if secretive(f.Name, v) {
				line = line.Words(name + " …")
				continue
			}
			line = withFlag(line, f, v)
		}
	}
	return strings.TrimSpace(line.String())
}

// repeated are the flags that said where to look, as a command takes them, and the
// names of those that it cannot be told here.
func repeated(cmd *cobra.Command, given []string) (same string, unsaid []string) {
	line := reconcile.CommandLine{}
	for _, name := range given {
		f := cmd.Flags().Lookup(strings.TrimPrefix(name, "--"))
		if f == nil {
			continue
		}
		values := flagValues(f)
		if slices.ContainsFunc(values, func(v string) bool { return secretive(f.Name, v) }) {
			unsaid = append(unsaid, name)
			continue
		}
		for _, v := range values {
			line = withFlag(line, f, v)
		}
	}
	same = strings.TrimSpace(line.String())
	if same == "" {
		return "", given // no shell can pass one of them on, or there is none to be said
	}
	return same, unsaid
}

// secretive says whether the value of a flag is a secret, or may hold one.
func secretive(flag, value string) bool {
	return flag == "password" || flag == "ledger" || flag == "uri" && strings.ContainsAny(value, "@?")
}

func withFlag(line reconcile.CommandLine, f *pflag.Flag, v string) reconcile.CommandLine {
	switch {
	case f.Value.Type() == "bool" && v == "true":
		return line.Words("--" + f.Name)
	case f.Value.Type() == "stringSlice":
		return line.Item(f.Name, v)
	}
	return line.Flag(f.Name, v)
}
