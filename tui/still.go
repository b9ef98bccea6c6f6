package tui

import "github.com/idemctl/idemctl/internal/still"

// bubbletea is initialized by now: nobody else is to see another terminal's name.
func init() { still.Over() }
