package tui

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/internal/visible"
)

func compareRefs(a, b inspect.Ref) int {
	return cmp.Or(strings.Compare(a.Queue, b.Queue), strings.Compare(a.ID, b.ID))
}

// sortedKeys are a map's keys in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// indented wraps words under a margin.
func indented(words string, width int) []string {
	lines := visible.Wrap(words, max(10, width-4))
	for i := range lines {
		lines[i] = "  " + lines[i]
	}
	return lines
}

// sortedRefs are the marked tasks in order.
func sortedRefs(marks map[inspect.Ref]bool) []inspect.Ref {
	refs := slices.Collect(maps.Keys(marks))
	slices.SortFunc(refs, compareRefs)
	return refs
}
