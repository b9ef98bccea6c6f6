package tui

import "context"

// Ping fails as any other call does, for every ledger.
func (f *fake) Ping(context.Context) map[string]error {
	err := f.called("ping")
	said := map[string]error{}
	for _, name := range f.place.Ledgers {
		said[name] = err
	}
	return said
}
