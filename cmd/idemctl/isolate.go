package main

import (
	"strings"

	"github.com/idemctl/idemctl/config"
)

// withoutVariables is the environment without what points at other servers, so
// that a laboratory is all that its command sees.
func withoutVariables(env config.Environment) config.Environment {
	lookup := env.LookupEnv
	env.LookupEnv = func(name string) (string, bool) {
		if strings.HasPrefix(name, "IDEMCTL_") || name == "REDIS_URL" || name == "DATABASE_URL" || lookup == nil {
			return "", false
		}
		return lookup(name)
	}
	return env
}
