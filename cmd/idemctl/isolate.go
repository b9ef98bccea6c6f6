package main

import (
	"strings"

	"github.com/idemctl/idemctl/config"
)

// laboratory is the environment without what points at other servers, so that
// the laboratory of the given configuration is all that its command sees.
func laboratory(env config.Environment, file string) config.Environment {
	lookup := env.LookupEnv
	env.LookupEnv = func(name string) (string, bool) {
		if name == "IDEMCTL_CONFIG" {
			return file, true
		}
		if strings.HasPrefix(name, "IDEMCTL_") || name == "REDIS_URL" || name == "DATABASE_URL" || lookup == nil {
			return "", false
		}
		return lookup(name)
	}
	return env
}
