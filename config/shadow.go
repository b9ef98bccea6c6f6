package config

import (
	"fmt"
	"strings"
)

// warnOfShadows warns of rules that can never match, because one earlier rule matches all that they do. It knows
// "*" (any text) and "?" (any character); patterns with other special characters only shadow their equals, so that
// a warning is never wrong.
func warnOfShadows(f *findings, rules []Rule, key string) {
	for n := range rules {
		for earlier := range n {
			first, second := rules[earlier].Match, rules[n].Match
			if !covers(pattern(first.Type), pattern(second.Type)) || !covers(pattern(first.Queue), pattern(second.Queue)) {
				continue
			}
			f.warnf(rules[n].Source, fmt.Sprintf("%s.rules[%d]", key, n),
				"this rule can never match: the one at line %d (type %s, queue %s) comes first and matches all that it does",
				rules[earlier].Source.line, echo(pattern(first.Type)), echo(pattern(first.Queue)))
			break
		}
	}
}

// pattern is what a match says, "*" when it says nothing.
func pattern(glob Setting[string]) string {
	if !glob.IsSet() {
		return "*"
	}
	return glob.Value
}

// covers reports whether glob matches everything that inner, itself a glob, matches. It may fail to see it.
func covers(glob, inner string) bool {
	if glob == inner || strings.Trim(glob, "*") == "" && glob != "" {
		return true
	}
	if strings.ContainsAny(glob+inner, `[]{}\`) {
		return false
	}
	return absorbs(glob, inner)
}

// absorbs matches inner as text against glob, where only "*" may take up a "*" of inner.
func absorbs(glob, inner string) bool {
	g, i := 0, 0
	star, retry := -1, 0
	for i < len(inner) {
		switch {
		case g < len(glob) && glob[g] == '*':
			star, retry = g, i
			g++
		case g < len(glob) && (glob[g] == inner[i] || glob[g] == '?' && inner[i] != '*' && inner[i] < 0x80):
			g, i = g+1, i+1
		case star >= 0:
			retry++
			g, i = star+1, retry
		default:
			return false
		}
	}
	return strings.Trim(glob[g:], "*") == ""
}
