package main

import "github.com/idemctl/idemctl/tui"

func (b *browser) Changes() tui.Changer { return nil }
