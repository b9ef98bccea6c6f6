package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// password resolves one context whose Redis password is written as text, and gives what the driver would be given.
func password(env Environment, text string) (string, error) {
	env.ReadFile = overlay(env.ReadFile, "/etc/idemctl.yaml",
		"contexts:\n  - name: a\n    redis:\n      password: "+yamlText(text)+"\n")
	settings, err := Resolve(env, Request{Flags: Flags{"config": {"/etc/idemctl.yaml"}}})
	if err != nil {
		return "", err
	}
	return settings.Context.Redis.Password.Value.Reveal(), nil
}

// overlay puts one file over what read finds.
func overlay(read func(string) ([]byte, error), path, content string) func(string) ([]byte, error) {
	return func(asked string) ([]byte, error) {
		if asked == path {
			return []byte(content), nil
		}
		return read(asked)
	}
}

func TestReferencesAreReplacedAnywhereInASecret(t *testing.T) {
	env := machine(map[string]string{"A": "one", "B": "", "NESTED": "${A}"}, map[string]string{
		"/etc/secret":     "from file\n",
		"/etc/crlf":       "from file\r\n",
		"/etc/spaces":     "  kept  ",
		"/home/op/secret": "from home",
		"/etc/references": "${A}",
	})
	for text, want := range map[string]string{
		"${A}": "one", "x${A}y${A}": "xoneyone", "$${A}": "${A}", "$A": "$A", "a$b{c}": "a$b{c}", "x${B}y": "xy",
		"${NESTED}":        "${A}",
		"file:/etc/secret": "from file", "file:secret": "from file", "file:/etc/crlf": "from file",
		"file:/etc/spaces": "  kept  ", "file:~/secret": "from home", "file:/etc/references": "${A}",
		"": "",
	} {
		if got, err := password(env, text); err != nil || got != want {
			t.Errorf("%q: got %q %v, want %q", text, got, err, want)
		}
	}
}

func TestReferencesThatLeadNowhereAreErrorsWithPlaceAndName(t *testing.T) {
	env := machine(map[string]string{"EMPTY": ""}, map[string]string{
		"/etc/empty": "\n", "/etc/large": strings.Repeat("x", maxSecretFile+1),
	})
	const at = "/etc/idemctl.yaml:4:17: contexts[0].redis.password: "
	for text, want := range map[string]string{
		"hunter2${MISSING}": at + "environment variable MISSING is not set, expected it to hold this value",
		"${hunter 2}":       at + `"${" begins no reference, expected ${NAME} with NAME of letters, digits and "_" (a literal "${" is written "$${")`,
		"hunter${2}${OK}":   at + `"${" begins no reference, expected ${NAME} with NAME of letters, digits and "_" (a literal "${" is written "$${")`,
		"hunter2${":         at + `"${" begins no reference, expected ${NAME} with NAME of letters, digits and "_" (a literal "${" is written "$${")`,
		"${EMPTY}":          at + "empty once its references are replaced, expected a value",
		"file:none":         at + "cannot read the secret: open etc/none: file does not exist",
		"file:/etc/empty":   at + "secret file /etc/empty is empty, expected one secret",
		"file:/etc/large":   at + "secret file /etc/large is larger than 65536 bytes, expected one secret",
	} {
		_, err := password(env, text)
		if got := lines(t, err); !slices.Equal(got, []string{want}) {
			t.Errorf("%q:\n got %q\nwant %q", text, got, want)
		}
	}
}

func TestOnlyWhatIsWrittenForThisToolIsExpanded(t *testing.T) {
	env := func(variables map[string]string) Environment {
		variables["A"] = "one"
		return machine(variables, map[string]string{"/secret": "from file"})
	}
	for name, c := range map[string]struct {
		env   Environment
		flags Flags
		want  string
	}{
		"flag reference":     {env(map[string]string{}), Flags{"password": {"${A}"}}, "one"},
		"flag file":          {env(map[string]string{}), Flags{"password": {"file:/secret"}}, "from file"},
		"variable reference": {env(map[string]string{"IDEMCTL_PASSWORD": "${A}"}), nil, "${A}"},
		"variable file":      {env(map[string]string{"IDEMCTL_PASSWORD": "file:/secret"}), nil, "from file"},
	} {
		settings, err := Resolve(c.env, Request{Flags: c.flags})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := settings.Context.Redis.Password.Value.Reveal(); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	settings, err := Resolve(env(map[string]string{"DATABASE_URL": "${A}", "REDIS_URL": "redis://:${A}@h:1"}), Request{})
	if err != nil {
		t.Fatal(err)
	}
	if got := settings.Context.Ledgers[0].DSN.Value.Reveal(); got != "${A}" {
		t.Errorf("DATABASE_URL was expanded to %q", got)
	}
	if got := settings.Context.Redis.URI.Value.Reveal(); got != "redis://:${A}@h:1" {
		t.Errorf("REDIS_URL was expanded to %q", got)
	}
}

func TestSecretsOfOtherContextsAreNotAskedFor(t *testing.T) {
	env := machine(nil, map[string]string{defaultPath: `
current_context: local
contexts:
  - name: local
  - name: prod
    redis: {uri: "h:1", password: "${PROD_PASSWORD}"}
`})
	if _, err := Resolve(env, Request{}); err != nil {
		t.Error(err)
	}
	if _, err := Resolve(env, Request{Flags: Flags{"context": {"prod"}}}); err == nil {
		t.Error("an unset variable of the chosen context passed")
	}
}

// TestNoErrorOrOutputShowsASecret puts a secret wherever one belongs, well written or not, and looks at all that an
// operator could be shown.
func TestNoErrorOrOutputShowsASecret(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := secrets().Draw(t, "secret")
		conn := connections(secret).Draw(t, "conn")
		quote := rapid.SampledFrom([]func(string) string{
			yamlText,
			func(s string) string { return s },
			func(s string) string { return "'" + s + "'" },
			func(s string) string { return `"` + s + `"` },
		}).Draw(t, "quote")
		line := rapid.SampledFrom([]string{
			"    redis: {password: %s}", "    redis: {password: %s, db: x}", "    redis: {passwort: %s}",
			"    redis:\n      password: %s", "    redis:\n      password: [%s]", "    redis:\n      db: %s",
			"    redis:\n      uri: %s", "    redis: {uri: %s}", "    redis:\n      cluster_addrs: %s",
			"    redis:\n      sentinel_password: %s\n      bogus: 1",
			"    ledgers:\n      - {name: main, dsn: %s}", "    ledgers:\n      - name: main\n        dsn: %s",
			"    ledgers:\n      - name: %s",
		}).Draw(t, "line")
		value := rapid.SampledFrom([]string{secret, conn}).Draw(t, "value")
		text := "contexts:\n  - name: a\n" + fmt.Sprintf(line, quote(value)) + "\n"
		env := machine(map[string]string{
			"IDEMCTL_USERNAME": "op",
			"IDEMCTL_DB":       rapid.SampledFrom([]string{"", secret}).Draw(t, "db variable"),
		}, map[string]string{defaultPath: text})
		env.Stat = nil
		flags := rapid.SampledFrom([]Flags{
			nil,
			{"password": {secret}},
			{"uri": {conn}},
			{"ledger": {conn}},
			{"ledger": {"main=" + conn, "main=" + conn}},
			{"db": {secret}},
			{"tls": {secret}},
			{"cluster_addrs": {conn}},
		}).Draw(t, "flags")

		var shown strings.Builder
		if file, err := Parse(defaultPath, []byte(text)); err != nil {
			fmt.Fprintln(&shown, err)
		} else {
			shown.Write(file.View(ViewOptions{Sources: true}))
			fmt.Fprintln(&shown, file.Summaries(), file.Warnings)
		}
		settings, err := Resolve(env, Request{Flags: flags})
		if err != nil {
			fmt.Fprintln(&shown, err)
		} else {
			for entry := range settings.Entries() {
				fmt.Fprintln(&shown, entry)
			}
			fmt.Fprintf(&shown, "%+v\n", settings.Warnings)
		}
		if leaks(shown.String(), secret) {
			t.Fatalf("secret %q in file:\n%sshown:\n%s", secret, text, shown.String())
		}
	})
}

func TestConnectionStringInTheWrongPlaceIsNotRepeated(t *testing.T) {
	for _, text := range []string{
		"current_context: redis://:hunter2@h:1\n",
		"contexts:\n  - name: a\n    settle: postgres://u:hunter2@h/d\n",
		"contexts:\n  - name: a\n    protected: password=hunter2\n",
		"contexts:\n  - name: a\n    ledgers: [{name: m, dsn: 'sqlite:x'}]\n    journal: {ledger: u:hunter2@h, table: t}\n",
		"contexts:\n  - name: a\n    postgres://u:hunter2@h/d: x\n",
	} {
		_, err := Parse("config.yaml", []byte(text))
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
