package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestViewMasksSecretsAndShowsReferences(t *testing.T) {
	file := mustParse(t, `# old password: hunter2
current_context: a
contexts:
  - name: a
    redis: {uri: "redis://u:hunter2@h:1", password: hunter2, sentinel_password: "${X}"} # hunter2
    ledgers:
      - {name: main, dsn: "postgres://u:${PASSWORD}@h/d"}
      - {name: file, dsn: "file:/run/dsn"}
    rules:
      - match: {type: "payment:*"}
        mark: {ledger: main, table: t, column: c, retention: 720h}
        ignore: [lock/blocks]
    flags: {queue: [a, b]}
`)
	want := `current_context: a
contexts:
  - name: a
    redis:
      uri: redis://u:xxxxx@h:1
      password: xxxxx
      sentinel_password: ${X}
    ledgers:
      - name: main
        dsn: postgres://u:${PASSWORD}@h/d
      - name: file
        dsn: file:/run/dsn
    rules:
      - match:
          type: "payment:*"
        mark:
          ledger: main
          table: t
          column: c
          retention: 30d
        ignore:
          - lock/blocks
    flags:
      queue: ["a", "b"]
`
	if got := string(file.View(ViewOptions{})); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := string(file.View(ViewOptions{Reveal: true})); !strings.Contains(got, "password: hunter2\n") || strings.Contains(got, "old") {
		t.Errorf("revealed:\n%s", got)
	}
	if got := string(file.View(ViewOptions{Sources: true})); !strings.Contains(got, "      password: xxxxx # config.yaml:5:53\n") {
		t.Errorf("with sources:\n%s", got)
	}
}

// sameText draws texts that tempt YAML to read them as something else.
func sameText() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			"true", "null", "~", "123", "0x1", "- a", "a: b", "a #b", "#a", "@a", "%a", "&a", "*a", "!a", "|", ">", "'", `"`,
			"{a}", "[a]", "a,b", " a", "a ", "a\tb", "a\nb", "\u0085", "\u2028", "é", "漢", "😀", "a:", "?", "-", ".inf", "<<", "yes",
			"2024-01-01", "\\", "${X}", "file:x", "…", "\u00a0", "\u200b", "a: ", "---", "...",
		}),
		rapid.StringOfN(rapid.RuneFrom([]rune("ab01 :#-?{}[],&*!|>'\"%@`\\$.~=/\n\té漢")), 1, 12, -1),
	)
}

func TestViewIsReadBackToTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Custom(func(t *rapid.T) string {
			return rapid.Map(sameText(), func(s string) string { return "x" + s }).Draw(t, "text")
		})
		var file File
		set := func(into scalar, text string) {
			if err := into.assign(text, Source{Kind: SourceFile, Where: "x"}); err != nil {
				t.Fatalf("%q: %v", text, err)
			}
		}
		var context Context
		set(&context.Name, "a")
		set(&context.Redis.Password, sameText().Draw(t, "password"))
		set(&context.Redis.Username, text.Draw(t, "username"))
		set(&context.Redis.DB, fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "db")))
		set(&context.Settle, fmt.Sprint(rapid.IntRange(1, 1e6).Draw(t, "settle"))+"s")
		set(&context.ReadOnly, fmt.Sprint(rapid.Bool().Draw(t, "read only")))
		context.Ledgers = make([]Ledger, 1)
		set(&context.Ledgers[0].Name, "m")
		set(&context.Ledgers[0].DSN, text.Draw(t, "dsn"))
		context.Rules = make([]Rule, rapid.IntRange(0, 3).Draw(t, "rules"))
		for n := range context.Rules {
			rule := &context.Rules[n]
			if rapid.Bool().Draw(t, "empty rule") {
				continue
			}
			set(&rule.Key, text.Draw(t, "key"))
			set(&rule.Class, rapid.SampledFrom(classNames[1:]).Draw(t, "class"))
			rule.Effect = &Table{}
			set(&rule.Effect.Table, text.Draw(t, "table"))
			set(&rule.Effect.Column, text.Draw(t, "column"))
			set(&rule.Effect.When, text.Draw(t, "when"))
		}
		context.Redact = make([]Setting[string], 1)
		set(&context.Redact[0], text.Draw(t, "redact"))
		context.Flags = map[string]Setting[[]string]{"where": {Value: []string{text.Draw(t, "flag")}, Source: Source{Kind: SourceFile}}}
		file.Contexts = []Context{context}

		written := file.View(ViewOptions{Reveal: true, Sources: rapid.Bool().Draw(t, "sources")})
		back, err := Parse("x", written)
		if err != nil {
			t.Fatalf("%v\n%s", err, written)
		}
		if got, want := string(back.View(ViewOptions{Reveal: true})), string(file.View(ViewOptions{Reveal: true})); got != want {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
	})
}

func TestEntriesListEveryValueWithItsSource(t *testing.T) {
	env := machine(map[string]string{"IDEMCTL_OUTPUT": "wide", "P": "hunter2"}, map[string]string{
		defaultPath: "contexts:\n  - name: a\n    redis: {password: '${P}'}\n    rules: [{ignore: [lock/blocks]}]\n",
	})
	settings := mustResolve(t, env, Request{Flags: Flags{"uri": {"redis://:hunter2@h:1/2"}, "password": {"${P}"}}, Known: []string{"output"}})
	var got []string
	for entry := range settings.Entries() {
		got = append(got, fmt.Sprintf("%s=%s (%s)", entry.Key, entry.Value, entry.Source))
	}
	want := []string{
		"name=a (" + defaultPath + ":2:11)",
		"redis.uri=redis://:xxxxx@h:1/2 (--uri)",
		"redis.db=2 (--uri)",
		"redis.password=xxxxx (--password)",
		"confirm_after=3s (default)",
		"rules[0].match.type=* (default)",
		"rules[0].match.queue=* (default)",
		"rules[0].key=id (default)",
		"rules[0].ignore[0]=lock/blocks (" + defaultPath + ":4:23)",
		"rules[0].confirm_after=3s (default)",
		"rules[0].atomic=true (default)",
		"rules[0].max_effects=1 (default)",
		"protected=false (default)",
		"read_only=false (default)",
		"journal.file=/home/op/.local/state/idemctl/journal.jsonl (default)",
		"journal.redact=false (default)",
		"flags.output=wide (IDEMCTL_OUTPUT)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestSummariesNameServerAndLedgersWithoutPasswords(t *testing.T) {
	content, err := os.ReadFile("testdata/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range mustParse(t, string(content)).Summaries() {
		got = append(got, fmt.Sprintf("%s %v %s %v %d %v %v %s", s.Name, s.Current, s.Server, s.Ledgers, s.Rules, s.Protected, s.ReadOnly, s.Source))
	}
	want := []string{
		"local true redis://127.0.0.1:6379/0 [main] 2 false false config.yaml:4:5",
		"prod false rediss://redis.example.com:6380/3 [main] 0 true false config.yaml:27:5",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if list := (&File{}).Summaries(); list == nil || len(list) != 0 {
		t.Errorf("without contexts: %v", list)
	}
	one := mustParse(t, "contexts: [{name: a, redis: {cluster_addrs: ['a:1', 'b:2']}}]").Summaries()[0]
	if !one.Current || one.Server != "a:1,b:2" || one.Ledgers == nil {
		t.Errorf("got %+v", one)
	}
}

func TestRulesThatCanNeverMatchAreWarnedOf(t *testing.T) {
	for name, c := range map[string]struct {
		matches string
		want    []string
	}{
		"identical":            {"[{match: {type: a}}, {match: {type: a}}]", []string{"1"}},
		"after everything":     {"[{class: create}, {match: {type: a}}, {match: {type: b, queue: c}}]", []string{"1", "2"}},
		"after a star":         {"[{match: {type: '*', queue: '*'}}, {match: {queue: c}}]", []string{"1"}},
		"within a prefix":      {"[{match: {type: 'pay*'}}, {match: {type: 'payment:*'}}]", []string{"1"}},
		"a question mark":      {"[{match: {type: 'a?'}}, {match: {type: 'ab'}}]", []string{"1"}},
		"wider":                {"[{match: {type: 'payment:*'}}, {match: {type: 'pay*'}}]", nil},
		"another queue":        {"[{match: {type: a, queue: b}}, {match: {type: a, queue: c}}]", nil},
		"all queues after one": {"[{match: {type: a, queue: b}}, {match: {type: a}}]", nil},
		"star for one":         {"[{match: {type: 'a?'}}, {match: {type: 'a*'}}]", nil},
		"unlike":               {"[{match: {type: 'a*b'}}, {match: {type: 'a*'}}]", nil},
		"classes are not read": {"[{match: {type: '[ab]*'}}, {match: {type: 'a'}}]", nil},
	} {
		file := mustParse(t, "contexts:\n  - name: a\n    rules: "+c.matches+"\n")
		var got []string
		for _, warning := range file.Warnings {
			got = append(got, strings.TrimSuffix(strings.TrimPrefix(warning.Key, "contexts[0].rules["), "]"))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want rules %v", name, file.Warnings, c.want)
		}
	}
	file := mustParse(t, "contexts:\n  - name: a\n    rules:\n      - match: {type: 'pay*'}\n      - match: {type: payment}\n")
	want := `config.yaml:5:9: contexts[0].rules[1]: this rule can never match: the one at line 4 (type "pay*", queue "*") comes first and matches all that it does`
	if got := fmt.Sprint(file.Warnings); got != "["+want+"]" {
		t.Errorf("got %s", got)
	}
}

// TestCoversIsNeverWrong compares with what the globs match: a rule that is called dead must be dead.
func TestCoversIsNeverWrong(t *testing.T) {
	globs := rapid.StringOfN(rapid.RuneFrom([]rune("ab*?")), 1, 5, -1)
	texts := rapid.StringOfN(rapid.RuneFrom([]rune("ab")), 0, 6, -1)
	matches := func(glob, text string) bool {
		ok, err := filepath.Match(glob, text)
		return err == nil && ok
	}
	rapid.Check(t, func(t *rapid.T) {
		outer, inner, text := globs.Draw(t, "outer"), globs.Draw(t, "inner"), texts.Draw(t, "text")
		if covers(outer, inner) && matches(inner, text) && !matches(outer, text) {
			t.Fatalf("%q is said to cover %q, and does not match %q", outer, inner, text)
		}
	})
}

func TestKeysWithoutEffectAreWarnedOf(t *testing.T) {
	file := mustParse(t, "contexts:\n  - name: a\n    rules: [{key: id, max_effects: 2}]\n    redis: {password: $PASSWORD}\n")
	want := []string{
		"config.yaml:4:23: contexts[0].redis.password: this begins with \"$\" and is taken literally; a reference is written ${NAME}",
		"config.yaml:3:19: contexts[0].rules[0].key: the rule names no mark, effect or inbox, so that its key is never looked up",
		"config.yaml:3:36: contexts[0].rules[0].max_effects: the rule names no effect, so that there is nothing to count",
	}
	var got []string
	for _, warning := range file.Warnings {
		got = append(got, warning.String())
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestValidateFailsForTheChosenContextAndWarnsForOthers(t *testing.T) {
	text := `
current_context: local
contexts:
  - name: local
    redis: {uri: "h:1"}
  - name: prod
    redis: {uri: "h:1", password: "${PROD}"}
`
	file, err := Validate(machine(nil, map[string]string{defaultPath: text}), Request{})
	want := defaultPath + ":7:35: contexts[1].redis.password: environment variable PROD is not set, expected it to hold this value"
	if err != nil || len(file.Warnings) != 1 || file.Warnings[0].String() != want {
		t.Errorf("got %v %+v, want %s", err, file, want)
	}
	_, err = Validate(machine(map[string]string{"IDEMCTL_CONTEXT": "prod"}, map[string]string{defaultPath: text}), Request{})
	if got := lines(t, err); !slices.Equal(got, []string{want}) {
		t.Errorf("got %v, want %s", got, want)
	}
	above := machine(map[string]string{"IDEMCTL_PASSWORD": "x"}, map[string]string{defaultPath: text})
	if file, err = Validate(above, Request{}); err != nil || len(file.Warnings) != 1 {
		t.Errorf("a variable hid what the file lacks: %v %+v", err, file)
	}
	text = strings.Replace(text, "current_context: local\n", "", 1)
	if file, err = Validate(machine(nil, map[string]string{defaultPath: text}), Request{}); err != nil || len(file.Warnings) != 1 {
		t.Errorf("no context chosen: %v %+v", err, file)
	}
	if file, err = Validate(machine(nil, nil), Request{}); err != nil || file.Path != "" {
		t.Errorf("no file: %v", err)
	}
}

func TestWarningsOfOtherContextsAreLeftToValidate(t *testing.T) {
	env := machine(nil, map[string]string{defaultPath: `
current_context: local
contexts:
  - name: local
  - name: prod
    rules: [{class: create}, {class: delete}]
`})
	if warnings := mustResolve(t, env, Request{}).Warnings; len(warnings) != 0 {
		t.Errorf("got %v", warnings)
	}
	if warnings := mustResolve(t, env, Request{Flags: Flags{"context": {"prod"}}}).Warnings; len(warnings) != 1 {
		t.Errorf("got %v for the context itself", warnings)
	}
	if file, err := Validate(env, Request{}); err != nil || len(file.Warnings) != 1 {
		t.Errorf("validate: %v %v", err, file)
	}
}
