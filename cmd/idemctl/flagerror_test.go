package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/idemctl/idemctl/config"
)

// Whoever mistypes a value is told what is expected, and nothing of how it was read.
func TestMistypedValuesSayWhatIsExpected(t *testing.T) {
	for args, want := range map[string]string{
		"requeue --count abc":                          `invalid argument "abc" for --count: expected a whole number`,
		"requeue --count 99999999999999999999":         `for --count: expected a whole number that is not so large`,
		"audit --rate many":                            `invalid argument "many" for --rate: expected a number`,
		"audit --timeout 5":                            `invalid argument "5" for --timeout: expected a time with its unit, such as 30s or 5m`,
		"audit --cluster=perhaps":                      `invalid argument "perhaps" for --cluster: expected true or false`,
		"requeue -q a --attempts 0":                    "--attempts 0: expected 1 to 300",
		"ttl-calc --max-retry many --policy fixed(5s)": "not a whole number",
	} {
		var out, err bytes.Buffer
		code := run(strings.Fields(args), &streams{in: strings.NewReader(""), out: &out, err: &err}, config.Environment{
			LookupEnv: func(string) (string, bool) { return "", false },
		})
		if code != exitUsage || !strings.Contains(err.String(), want) || strings.Contains(err.String(), "strconv") {
			t.Errorf("%s: exit %d, want %q in\n%s", args, code, want, err.String())
		}
	}
}
