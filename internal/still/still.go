// Package still keeps the terminal toolkit from speaking to the terminal while the
// program starts.
//
// bubbletea asks the terminal for its background colour as soon as it is linked in
// (its tea_init.go), whatever the program is about to do: every command would write
// escape sequences to its standard output, take what was typed ahead, and wait up to
// five seconds for a terminal that does not answer. termenv, through which it asks,
// asks no terminal that calls itself screen; so the terminal is called that until
// bubbletea is initialized.
//
// Go initializes packages in the order of their paths as soon as what they import
// is initialized. This one imports only os, and its path comes before termenv's,
// which bubbletea waits for.
package still

import "os"

const variable = "TERM"

// The environment as it was.
var (
	was string
	set bool
)

func init() {
	was, set = os.LookupEnv(variable)
	_ = os.Setenv(variable, "screen") // a failure leaves things as they are without it
}

// Over gives the terminal its name back. A package that imports bubbletea calls it
// while it is initialized itself.
func Over() {
	if !set {
		_ = os.Unsetenv(variable)
		return
	}
	_ = os.Setenv(variable, was)
}
