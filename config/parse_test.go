package config

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseReadsEveryKeyOfTheDesign(t *testing.T) {
	content, err := os.ReadFile("testdata/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := mustParse(t, string(content))
	if len(file.Warnings) != 0 {
		t.Errorf("warnings: %v", file.Warnings)
	}
	local := file.Contexts[0]
	rule := local.Rules[0]
	for name, got := range map[string]bool{
		"current":      file.CurrentContext.Value == "local",
		"settle":       local.Settle.Value == 2*time.Minute,
		"policy":       local.Policy.Retry.Value == "default" && local.Policy.MaxRetry.Value == 25,
		"class":        rule.Class.Value == ClassCreate,
		"when":         rule.Effect.When.Value == "status = 'captured'",
		"retention":    rule.Mark.Retention.Value == Retention{Keep: 30 * 24 * time.Hour},
		"forever":      rule.Inbox.Retention.Value == Retention{Forever: true},
		"rule policy":  rule.Policy.Retry.Value == "exponential(base=10s, factor=2, cap=1h, jitter=20%)",
		"unique":       rule.Unique.TTL.Value == 24*time.Hour,
		"ignore":       rule.Ignore[0].Value == "lock/cross-queue",
		"atomic":       rule.Atomic.Value,
		"fingerprint":  rule.Fingerprint.Role.Value == RoleMark && rule.Fingerprint.Hash.Value == HashMD5,
		"protected":    file.Contexts[1].Protected.Value,
		"read_only":    file.Contexts[1].ReadOnly.IsSet() && !file.Contexts[1].ReadOnly.Value,
		"flags list":   slices.Equal(file.Contexts[1].Flags["queue"].Value, []string{"default", "critical"}),
		"flags number": slices.Equal(file.Contexts[1].Flags["page-size"].Value, []string{"500"}),
	} {
		if !got {
			t.Errorf("%s was not read as written", name)
		}
	}
	if where := rule.Policy.Retry.Source.Where; where != "config.yaml:17:25" {
		t.Errorf("retry policy stands at %s", where)
	}
}

func TestParseSaysWhereAndWhatWasExpected(t *testing.T) {
	// A context that is fine, for mistakes further below.
	const head = "contexts:\n  - name: a\n"
	const rule = head + "    ledgers:\n      - {name: main, dsn: 'sqlite:x'}\n    rules:\n"
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"unknown key": {
			head + "    rulez: []\n",
			[]string{`config.yaml:3:5: contexts[0]: unknown key "rulez", expected one of name, redis, ledgers, settle, confirm_after, policy, rules, redact, protected, read_only, journal, flags; did you mean "rules"?`},
		},
		"unknown key at the top": {
			"nothing_alike: 1\n",
			[]string{`config.yaml:1:1: unknown key "nothing_alike", expected one of current_context, contexts`},
		},
		"key twice":     {head + "    name: b\n", []string{`config.yaml:3:5: contexts[0]: key "name" is here twice (first at line 2), expected it once`}},
		"not a mapping": {"- a\n", []string{"config.yaml:1:1: a list, expected a mapping with current_context, contexts"}},
		"not a list":    {"contexts: a\n", []string{`config.yaml:1:11: contexts: a single value, expected a list (lines that begin with "- ")`}},
		"a list where a value belongs": {
			head + "    settle: [1m]\n", []string{"config.yaml:3:13: contexts[0].settle: a list, expected a duration such as 90s, 2m or 30d"},
		},
		"no value": {head + "    settle:\n", []string{"config.yaml:3:5: contexts[0].settle: no value, expected a duration such as 90s, 2m or 30d"}},
		"no unit": {
			head + "    settle: 120\n",
			[]string{`config.yaml:3:13: contexts[0].settle: "120" is not valid (it has no unit), expected a duration such as 90s, 2m or 30d`},
		},
		"negative duration": {
			head + "    settle: -2m\n",
			[]string{`config.yaml:3:13: contexts[0].settle: "-2m" is not valid (it is negative), expected a duration such as 90s, 2m or 30d`},
		},
		"settle zero": {
			head + "    settle: 0s\n",
			[]string{"config.yaml:3:13: contexts[0].settle: 0 is not valid, expected a duration above zero such as 2m"},
		},
		"boolean in quotes": {
			head + "    protected: 'true'\n",
			[]string{"config.yaml:3:16: contexts[0].protected: a text in quotes, expected true or false without quotes"},
		},
		"boolean of YAML 1.1": {head + "    protected: yes\n", []string{`config.yaml:3:16: contexts[0].protected: "yes" is not valid, expected true or false`}},
		"octal":               {head + "    policy: {max_retry: 010}\n", []string{`config.yaml:3:25: contexts[0].policy.max_retry: "010" is not valid, expected a whole number, zero or more`}},
		"missing name":        {"contexts:\n  - redis: {db: 1}\n", []string{"config.yaml:2:5: contexts[0].name: missing, expected a name"}},
		"name with a space":   {"contexts:\n  - name: a b\n", []string{"config.yaml:2:11: contexts[0].name: not a valid name, expected printable text without spaces, at most 128 bytes"}},
		"context twice":       {head + "  - name: a\n", []string{`config.yaml:3:11: contexts[1].name: the name "a" is taken (line 2), expected another`}},
		"unknown current": {
			"current_context: prd\ncontexts:\n  - name: prod\n  - name: local\n",
			[]string{`config.yaml:1:18: current_context: no context is named "prd", expected one of prod, local; did you mean "prod"?`},
		},
		"ledger twice": {
			head + "    ledgers:\n      - {name: m, dsn: 'sqlite:x'}\n      - {name: m, dsn: 'sqlite:y'}\n",
			[]string{`config.yaml:5:16: contexts[0].ledgers[1].name: the name "m" is taken (line 4), expected another`},
		},
		"ledger without dsn": {
			head + "    ledgers:\n      - name: m\n",
			[]string{"config.yaml:4:9: contexts[0].ledgers[0].dsn: missing, expected a connection string such as postgres://… or sqlite:FILE"},
		},
		"class": {
			rule + "      - class: craete\n",
			[]string{`config.yaml:6:16: contexts[0].rules[0].class: "craete" is not valid, expected one of create, increment, overwrite, set-status, delete; did you mean "create"?`},
		},
		"unknown ledger": {
			rule + "      - mark: {ledger: mian, table: t, column: c}\n",
			[]string{`config.yaml:6:24: contexts[0].rules[0].mark.ledger: no ledger is named "mian", expected main; did you mean "main"?`},
		},
		"source without column": {
			rule + "      - mark: {table: t}\n",
			[]string{"config.yaml:6:15: contexts[0].rules[0].mark.column: missing, expected the column that holds the key"},
		},
		"source without lines": {
			rule + "      - mark:\n",
			[]string{"config.yaml:6:9: contexts[0].rules[0].mark: no value, expected a mapping with ledger, table, column, at, when, retention, claimed_at"},
		},
		"retention": {
			rule + "      - mark: {table: t, column: c, retention: 30 days}\n",
			[]string{`config.yaml:6:48: contexts[0].rules[0].mark.retention: "30 days" is not valid, expected forever or a positive duration such as 30d`},
		},
		"unique below a second": {
			rule + "      - unique: {ttl: 900ms}\n",
			[]string{`config.yaml:6:23: contexts[0].rules[0].unique.ttl: "900ms" is too short, expected 1s or more (asynq refuses less)`},
		},
		"finding code": {
			rule + "      - ignore: [cross-queue]\n",
			[]string{`config.yaml:6:18: contexts[0].rules[0].ignore[0]: "cross-queue" is no finding code, expected one such as lock/cross-queue`},
		},
		"max_effects zero": {
			rule + "      - max_effects: 0\n        effect: {table: t, column: c}\n",
			[]string{"config.yaml:6:22: contexts[0].rules[0].max_effects: 0 is not valid, expected 1 or more"},
		},
		"hash": {
			rule + "      - mark: {table: t, column: c}\n        fingerprint: {source: mark, column: h, hash: sha1}\n",
			[]string{`config.yaml:7:54: contexts[0].rules[0].fingerprint.hash: "sha1" is not valid, expected one of md5, sha256`},
		},
		"fingerprint of a source the rule lacks": {
			rule + "      - mark: {table: t, column: c}\n        fingerprint: {source: effect, column: h, hash: md5}\n",
			[]string{"config.yaml:7:31: contexts[0].rules[0].fingerprint.source: this rule has no effect, expected mark"},
		},
		"empty policy": {
			rule + "      - policy: {retry: ' '}\n",
			[]string{`config.yaml:6:25: contexts[0].rules[0].policy.retry: " " is not valid, expected a text that is not empty`},
		},
		"two servers": {
			head + "    redis: {uri: 'h:1', cluster_addrs: ['a:1']}\n",
			[]string{"config.yaml:3:40: contexts[0].redis: uri and cluster_addrs each name a server, expected one of them"},
		},
		"two databases": {
			head + "    redis: {uri: 'redis://h:1/2', db: 3}\n",
			[]string{"config.yaml:3:39: contexts[0].redis.db: the uri names another database, expected the number in one of them"},
		},
		"database of a cluster": {
			head + "    redis: {cluster: true, uri: 'h:1', db: 3}\n",
			[]string{"config.yaml:3:44: contexts[0].redis.db: a Redis Cluster has database 0 only, expected 0 or no db"},
		},
		"certificate without key": {
			head + "    redis: {tls_cert: c.pem}\n",
			[]string{"config.yaml:3:23: contexts[0].redis: tls_cert without tls_key, expected both"},
		},
		"sentinels without master": {
			head + "    redis: {sentinel_addrs: ['a:1']}\n",
			[]string{"config.yaml:3:29: contexts[0].redis: sentinel_addrs without sentinel_master, expected both"},
		},
		"journal table without ledger": {
			head + "    journal: {table: j}\n", []string{"config.yaml:3:22: contexts[0].journal: table without ledger, expected both"},
		},
		"flag with a home": {
			head + "    flags: {db: 3}\n", []string{"config.yaml:3:17: contexts[0].flags.db: not taken here, expected it as redis.db"},
		},
		"secret-like pieces are not repeated": {
			head + "    redis: {password: s3cr,et: x}\n",
			[]string{"config.yaml:3:28: contexts[0].redis: unknown key (not repeated here, for it may be part of a secret), expected one of uri, db, username, password, cluster, cluster_addrs, tls, tls_server, tls_ca, tls_cert, tls_key, insecure, sentinel_addrs, sentinel_master, sentinel_username, sentinel_password"},
		},
		"value of a secret block is not repeated": {
			head + "    redis: {db: hunter2}\n", []string{"config.yaml:3:17: contexts[0].redis.db: not a valid value, expected a whole number, zero or more"},
		},
		"empty entry": {"contexts:\n  -\n", []string{"config.yaml:2:3: contexts[0]: an empty list entry, expected a value or no entry"}},
		"entry that is no mapping": {
			"contexts: [a]\n", []string{"config.yaml:1:12: contexts[0]: a single value, expected a mapping with name, redis, ledgers, settle, confirm_after, policy, rules, redact, protected, read_only, journal, flags"},
		},
		"tab": {"contexts:\n\t- name: a\n", []string{"config.yaml:2:1: a tab where a token should begin, expected spaces for indentation"}},
		"reserved character": {
			head + "    redis: {password: @x}\n", []string{"config.yaml:3:23: '@' is a reserved character, expected a value in quotes"},
		},
		"unclosed list": {"contexts: [\n", []string{"config.yaml:1:11: not valid YAML: sequence end token ']' not found, expected YAML 1.2"}},
		"two documents": {"contexts: []\n---\ncontexts: []\n", []string{"config.yaml:3:1: a second YAML document begins, expected one per file"}},
		"alias of nothing": {
			"contexts: *x\n", []string{"config.yaml:1:11: the alias names no anchor that ends before it"},
		},
		"alias of itself": {
			"contexts: &x [*x]\n", []string{"config.yaml:1:15: the alias names no anchor that ends before it"},
		},
		"tag":       {head + "    settle: !!str 2m\n", []string{"config.yaml:3:13: contexts[0].settle: a value with a tag, expected a duration such as 90s, 2m or 30d"}},
		"not UTF-8": {"contexts: []\n# é\xff\n", []string{"config.yaml:2:4: invalid UTF-8, expected a text file in UTF-8"}},
		"control":   {"contexts: []\n# \x1b[31m\n", []string{"config.yaml:2:3: a control character, expected printable text"}},
		"columns count characters": {
			"contexts: [{name: äöü, settle: 5}]\n",
			[]string{`config.yaml:1:32: contexts[0].settle: "5" is not valid (it has no unit), expected a duration such as 90s, 2m or 30d`},
		},
		"a byte order mark has no column": {
			"\ufeffcontext: []\n", []string{`config.yaml:1:1: unknown key "context", expected one of current_context, contexts; did you mean "contexts"?`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("config.yaml", []byte(c.text))
			if got := lines(t, err); !slices.Equal(got, c.want) {
				t.Errorf("\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(c.want, "\n     "))
			}
		})
	}
}

func TestParseReportsSeveralMistakesInTheOrderOfTheFile(t *testing.T) {
	_, err := Parse("config.yaml", []byte(`current_context: nowhere
contexts:
  - name: a
    settle: soon
    rules:
      - class: x
        mark: {column: c}
    redis: {db: -1}
`))
	var where []string
	for _, line := range lines(t, err) {
		where = append(where, strings.Join(strings.SplitN(line, ":", 4)[:3], ":"))
	}
	want := []string{"config.yaml:1:18", "config.yaml:4:13", "config.yaml:6:16", "config.yaml:7:15", "config.yaml:8:17"}
	if !slices.Equal(where, want) {
		t.Errorf("got %v, want %v", where, want)
	}
}

func TestParseTakesEmptyFilesAndEmptyBlocks(t *testing.T) {
	for _, text := range []string{
		"", "\n", "# nothing\n", "---\n", "contexts:\n", "contexts: []\n",
		"contexts:\n  - name: a\n    redis:\n    ledgers:\n    rules:\n    policy:\n    redact:\n    flags:\n",
	} {
		if _, err := Parse("config.yaml", []byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestParseFollowsAnchorsAndMergeKeys(t *testing.T) {
	content, err := os.ReadFile("testdata/anchors.yaml")
	if err != nil {
		t.Fatal(err)
	}
	other := mustParse(t, string(content)).Contexts[1]
	if other.Ledgers[0].Name.Value != "main" {
		t.Error("an aliased list was not followed")
	}
	if p := other.Policy; p.Retry.Value != "fixed(60s)" || p.MaxRetry.Value != 9 {
		t.Errorf("merged policy: %v %v, want the base's retry and the own max_retry", p.Retry.Value, p.MaxRetry.Value)
	}
}

// TestParseKeepsSpellingOfUnquotedPasswords: YAML would take these for numbers, and lose zeros.
func TestParseKeepsSpellingOfUnquotedPasswords(t *testing.T) {
	for _, password := range []string{"007", "1e3", "0x1F", "1_000", "true", ".inf", "2024-01-01", "1.50"} {
		file := mustParse(t, "contexts: [{name: a, redis: {password: "+password+"}}]")
		if got := file.Contexts[0].Redis.Password.Value.Reveal(); got != password {
			t.Errorf("password %s was read as %s", password, got)
		}
	}
}

func TestParseStaysWithinBoundsOnHostileFiles(t *testing.T) {
	var laughs strings.Builder
	laughs.WriteString("contexts:\n  - name: a\n    redact: &r [")
	laughs.WriteString(strings.Repeat("x,", 2000) + "x]\n")
	for range 2000 {
		laughs.WriteString("  - {name: b, redact: *r}\n")
	}
	for name, text := range map[string]string{
		"deep flow":        "contexts: " + strings.Repeat("[", 100_000),
		"deep block":       strings.Repeat("- ", 60_000),
		"too large":        "# " + strings.Repeat("x", maxFile),
		"aliases of lists": laughs.String(),
	} {
		if _, err := Parse("config.yaml", []byte(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
