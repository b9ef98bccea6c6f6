package config

import (
	"maps"
	"slices"
	"strings"
)

// Flags are the command-line flags an operator gave, by their long name, each with its values in order. Flags at
// their default are not in it.
type Flags map[string][]string

// flagSource is where a value on the command line stands.
func flagSource(name string) Source { return Source{Kind: SourceFlag, Where: "--" + name} }

// envSource is where a value in the environment stands.
func envSource(variable string) Source { return Source{Kind: SourceEnv, Where: variable} }

// Variable is the environment variable that sets a flag: IDEMCTL_PAGE_SIZE for page-size.
func Variable(flag string) string { return "IDEMCTL_" + strings.ToUpper(canonicalFlag(flag)) }

// values finds a flag by name, whichever of "-" and "_" it is spelt with.
func (flags Flags) values(name string) (values []string, spelt string) {
	for given, values := range flags {
		if canonicalFlag(given) == canonicalFlag(name) {
			return values, given
		}
	}
	return nil, ""
}

// homes are the flags that have a key of their own in the file, and where it is.
var homes = map[string]string{
	"config": "", "context": "current_context", "uri": "redis.uri", "db": "redis.db", "username": "redis.username",
	"password": "redis.password", "cluster": "redis.cluster", "cluster_addrs": "redis.cluster_addrs", "tls": "redis.tls",
	"tls_server": "redis.tls_server", "insecure": "redis.insecure", "ledger": "ledgers", "redact": "redact",
	"settle": "settle", "confirm_after": "confirm_after", "journal": "journal.file",
}

// checkFlagHomes refuses, under flags, the flags that have a key of their own, and flags given twice in two
// spellings.
func checkFlagHomes(f *findings, flags map[string]Setting[[]string], key string) {
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		plain := canonicalFlag(name)
		home, has := homes[plain]
		switch {
		case has && home == "":
			f.errorf(flags[name].Source, join(key, name), "a file cannot name the file, expected no such key")
		case has:
			f.errorf(flags[name].Source, join(key, name), "not taken here, expected it as %s", home)
		case seen[plain]:
			f.errorf(flags[name].Source, join(key, name), "this flag is here twice, expected it once")
		}
		seen[plain] = true
	}
}

// canonicalFlag is a flag's name with "_" for "-" and in lower case, so that page-size and page_size are one.
func canonicalFlag(name string) string {
	return strings.ToLower(strings.ReplaceAll(name, "-", "_"))
}
