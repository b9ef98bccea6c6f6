package config

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"
)

func mustResolve(t *testing.T, env Environment, request Request) *Settings {
	t.Helper()
	settings, err := Resolve(env, request)
	if err != nil {
		t.Fatalf("Resolve: %v", err)
	}
	return settings
}

// TestFirstLevelThatSpeaksWins takes every subset of the levels that can name the Redis server.
func TestFirstLevelThatSpeaksWins(t *testing.T) {
	const path = defaultPath
	for mask := range 1 << 5 {
		has := func(level int) bool { return mask&(1<<level) != 0 }
		flags, variables, files := Flags{}, map[string]string{}, map[string]string{}
		if has(0) {
			flags["uri"] = []string{"flag:1"}
		}
		if has(1) {
			variables["IDEMCTL_URI"] = "env:1"
		}
		if has(2) {
			files[path] = "contexts:\n  - name: a\n    redis:\n      uri: context:1\n"
		}
		if has(3) {
			variables["REDIS_URL"] = "redis://variable:1"
		}
		if has(4) {
			files["/home/op/.asynq.yaml"] = "uri: asynq:1\n"
		}
		want := "127.0.0.1:6379 default"
		for level, named := range slices.Backward([]string{
			"flag:1 --uri", "env:1 IDEMCTL_URI", "context:1 " + path + ":4:12", "redis://variable:1 REDIS_URL",
			"asynq:1 /home/op/.asynq.yaml:1:6",
		}) {
			if has(level) {
				want = named
			}
		}
		uri := mustResolve(t, machine(variables, files), Request{Flags: flags}).Context.Redis.URI
		if got := fmt.Sprint(uri.Value, " ", uri.Source); got != want {
			t.Errorf("levels %05b: got %s, want %s", mask, got, want)
		}
	}
}

func TestSourcesNameTheirKind(t *testing.T) {
	env := machine(map[string]string{"IDEMCTL_USERNAME": "op"}, map[string]string{
		defaultPath: "contexts: [{name: a, redis: {tls: true}}]", "/home/op/.asynq.yml": "uri: h:1",
	})
	redis := mustResolve(t, env, Request{Flags: Flags{"password": {"x"}}}).Context.Redis
	for name, c := range map[string]struct {
		source Source
		kind   SourceKind
		word   string
	}{
		"password": {redis.Password.Source, SourceFlag, "flag"},
		"username": {redis.Username.Source, SourceEnv, "env"},
		"tls":      {redis.TLS.Source, SourceFile, "file"},
		"uri":      {redis.URI.Source, SourceFallback, "fallback"},
		"db":       {redis.DB.Source, SourceDefault, "default"},
		"cluster":  {redis.Cluster.Source, SourceUnset, "unset"},
	} {
		if c.source.Kind != c.kind || c.source.Kind.String() != c.word {
			t.Errorf("%s comes from %v (%s)", name, c.source.Kind, c.source)
		}
	}
}

// TestConnectionKeysStayWithTheirServer: a password or a database number must not reach a server it was not
// written for.
func TestConnectionKeysStayWithTheirServer(t *testing.T) {
	file := "contexts:\n  - name: a\n    redis: {uri: 'redis://prod:1', db: 3, username: u, password: p, tls: true}\n"
	for name, c := range map[string]struct {
		variables map[string]string
		files     map[string]string
		flags     Flags
		want      string
	}{
		"flag names another server": {
			nil,
			map[string]string{defaultPath: file},
			Flags{"uri": {"redis://other:1"}},
			"redis://other:1 db=0 user= password= tls=false",
		},
		"variable names another server": {
			map[string]string{"IDEMCTL_URI": "redis://other:1"},
			map[string]string{defaultPath: file},
			nil,
			"redis://other:1 db=0 user= password= tls=false",
		},
		"variables go with the server of a flag": {
			map[string]string{"IDEMCTL_PASSWORD": "v", "IDEMCTL_DB": "4"},
			nil,
			Flags{"uri": {"redis://other:1"}},
			"redis://other:1 db=4 user= password=v tls=false",
		},
		"a uri's own login and database beat lower levels": {
			map[string]string{"IDEMCTL_PASSWORD": "v", "IDEMCTL_DB": "4", "IDEMCTL_USERNAME": "w"},
			nil,
			Flags{"uri": {"redis://u:p@other:1/2"}},
			"redis://u:p@other:1/2 db=2 user= password= tls=false",
		},
		"flags beat the uri of the file": {
			nil,
			map[string]string{defaultPath: file},
			Flags{"db": {"5"}, "password": {"q"}},
			"redis://prod:1 db=5 user=u password=q tls=true",
		},
		"REDIS_URL does not mix with the file of asynq": {
			map[string]string{"REDIS_URL": "redis://other:1"},
			map[string]string{"/home/op/.asynq.yaml": "uri: h:1\ndb: 7\npassword: p\n"},
			nil,
			"redis://other:1 db=0 user= password= tls=false",
		},
		"the context does not mix with the file of asynq": {
			nil,
			map[string]string{defaultPath: "contexts: [{name: a, redis: {uri: 'h:1'}}]", "/home/op/.asynq.yaml": "db: 7\npassword: p\n"},
			nil,
			"h:1 db=0 user= password= tls=false",
		},
		"the file of asynq goes with its own keys": {
			nil,
			map[string]string{"/home/op/.asynq.yaml": "uri: h:1\ndb: 7\npassword: 007\ntls_server: ''\nunknown: [1]\n"},
			nil,
			"h:1 db=7 user= password=007 tls=false",
		},
		"asynq's JSON with tabs": {
			nil,
			map[string]string{"/home/op/.asynq.json": "{\n\t\"URI\": \"h:1\",\n\t\"db\": 7\n}\n"},
			nil,
			"h:1 db=7 user= password= tls=false",
		},
	} {
		redis := mustResolve(t, machine(c.variables, c.files), Request{Flags: c.flags}).Context.Redis
		got := fmt.Sprintf("%s db=%d user=%s password=%s tls=%v", redis.URI.Value.Reveal(), redis.DB.Value,
			redis.Username.Value, redis.Password.Value.Reveal(), redis.UsesTLS())
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

func TestUnusedLoginOfTheFileIsWarnedOf(t *testing.T) {
	env := machine(nil, map[string]string{defaultPath: "contexts:\n  - name: a\n    redis: {uri: 'h:1', password: '${UNSET}', tls: true}\n"})
	got := mustResolve(t, env, Request{Flags: Flags{"uri": {"other:1"}}}).Warnings
	want := defaultPath + ":3:12: contexts[0].redis: password, tls not used, because --uri names another server; give them as flags if they are meant for it"
	if len(got) != 1 || got[0].String() != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestClusterAndSentinelAddressesComeTogether(t *testing.T) {
	redis := mustResolve(t, machine(nil, nil), Request{Flags: Flags{"cluster": {"true"}}}).Context.Redis
	if !slices.Equal(redis.ClusterAddrs.Value, DefaultClusterAddrs) || redis.URI.IsSet() {
		t.Errorf("--cluster alone gave %v and uri %v", redis.ClusterAddrs.Value, redis.URI.Value)
	}
	redis = mustResolve(t, machine(nil, nil), Request{Flags: Flags{"cluster-addrs": {"a:1,b:2", "c:3"}}}).Context.Redis
	if !slices.Equal(redis.ClusterAddrs.Value, []string{"a:1", "b:2", "c:3"}) || !redis.Cluster.Value {
		t.Errorf("--cluster-addrs gave %v, cluster %v", redis.ClusterAddrs.Value, redis.Cluster.Value)
	}
	env := machine(nil, map[string]string{"/home/op/.asynq.yaml": "uri: h:1\ncluster_addrs: a:1,b:2\n"})
	if redis = mustResolve(t, env, Request{}).Context.Redis; redis.URI.Value.Reveal() != "h:1" || redis.ClusterAddrs.IsSet() {
		t.Error("cluster_addrs of the asynq CLI's file counted without cluster")
	}
	if redis = mustResolve(t, env, Request{Flags: Flags{"cluster": {"true"}}}).Context.Redis; redis.URI.IsSet() || len(redis.ClusterAddrs.Value) != 2 {
		t.Error("cluster_addrs of the asynq CLI's file did not count with --cluster")
	}
	_, err := Resolve(machine(map[string]string{"IDEMCTL_DB": "2"}, nil), Request{Flags: Flags{"cluster": {"true"}}})
	want := []string{"IDEMCTL_DB: db: a Redis Cluster has database 0 only, expected 0 or no db"}
	if got := lines(t, err); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestWrongValuesAboveTheFileNameTheirFlagOrVariable(t *testing.T) {
	for name, c := range map[string]struct {
		variables map[string]string
		flags     Flags
		want      string
	}{
		"flag":              {nil, Flags{"settle": {"soon"}}, `--settle: "soon" is not valid, expected a duration such as 90s, 2m or 30d`},
		"variable":          {map[string]string{"IDEMCTL_CONFIRM_AFTER": "5"}, nil, `IDEMCTL_CONFIRM_AFTER: "5" is not valid (it has no unit), expected a duration such as 90s, 2m or 30d`},
		"zero":              {nil, Flags{"settle": {"0s"}}, "--settle: 0 is not valid, expected a duration above zero such as 2m"},
		"secret":            {map[string]string{"IDEMCTL_DB": "hunter2"}, nil, "IDEMCTL_DB: not a valid value, expected a whole number, zero or more"},
		"unset reference":   {nil, Flags{"password": {"${NO}"}}, "--password: environment variable NO is not set, expected it to hold this value"},
		"context":           {nil, Flags{"context": {"prod"}}, `--context: no context is named "prod" (no configuration file was read)`},
		"two servers":       {nil, Flags{"uri": {"h:1"}, "cluster_addrs": {"a:1"}}, "--cluster_addrs: uri and cluster_addrs each name a server, expected one of them"},
		"no address":        {nil, Flags{"cluster_addrs": {"hunter2"}}, "--cluster_addrs: cluster_addrs: an entry that is no address, expected host:port"},
		"config is missing": {nil, Flags{"config": {"/none.yaml"}}, "--config: there is no configuration file /none.yaml"},
		"variable config":   {map[string]string{"IDEMCTL_CONFIG": "/none.yaml"}, nil, "IDEMCTL_CONFIG: there is no configuration file /none.yaml"},
	} {
		_, err := Resolve(machine(c.variables, nil), Request{Flags: c.flags})
		if got := lines(t, err); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, c.want)
		}
	}
}

func TestEmptyVariablesCountAsUnset(t *testing.T) {
	env := machine(map[string]string{
		"IDEMCTL_URI": "", "IDEMCTL_CONFIG": "", "IDEMCTL_CONTEXT": "", "IDEMCTL_LEDGER": "", "REDIS_URL": "", "DATABASE_URL": "",
		"IDEMCTL_OUTPUT": "", "IDEMCTL_CONFIG_DIR": "", "XDG_CONFIG_HOME": "", "IDEMCTL_REDACT": "",
	}, nil)
	settings := mustResolve(t, env, Request{Known: []string{"output"}})
	if settings.Context.Redis.URI.Source.Kind != SourceDefault || len(settings.Context.Ledgers)+len(settings.Context.Flags) != 0 {
		t.Errorf("got %+v", settings.Context)
	}
}

const twoContexts = `
contexts:
  - name: a
    redis: {uri: "a:1"}
  - name: b
    redis: {uri: "b:1"}
`

func TestContextIsChosenByFlagThenVariableThenFile(t *testing.T) {
	choose := func(flag, variable, current string) (string, error) {
		files := map[string]string{defaultPath: twoContexts}
		if current != "" {
			files[defaultPath] = "current_context: " + current + twoContexts
		}
		flags := Flags{}
		if flag != "" {
			flags["context"] = []string{flag}
		}
		settings, err := Resolve(machine(map[string]string{"IDEMCTL_CONTEXT": variable}, files), Request{Flags: flags})
		if err != nil {
			return "", err
		}
		return settings.Context.Name.Value, nil
	}
	for _, c := range []struct{ flag, variable, current, want string }{
		{"b", "a", "a", "b"}, {"", "b", "a", "b"}, {"", "", "b", "b"},
	} {
		if got, err := choose(c.flag, c.variable, c.current); err != nil || got != c.want {
			t.Errorf("%+v: got %q %v", c, got, err)
		}
	}
	_, err := choose("", "", "")
	var undecided *Error
	if !errors.As(err, &undecided) || undecided.Hint != "idemctl config use-context a" ||
		undecided.Problem != "no context is chosen, expected --context or current_context to be one of a, b" {
		t.Errorf("several contexts and no choice: %v", err)
	}
	_, err = choose("bb", "", "a")
	want := []string{`--context: no context is named "bb" (` + defaultPath + ` has a, b); did you mean "b"?`}
	if got := lines(t, err); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOnlyContextIsChosenWithoutBeingNamed(t *testing.T) {
	settings := mustResolve(t, machine(nil, map[string]string{defaultPath: "contexts: [{name: only, protected: true}]"}), Request{})
	if settings.Context.Name.Value != "only" || !settings.Context.Protected.Value || settings.File != defaultPath {
		t.Errorf("got %+v", settings.Context.Name)
	}
}

func TestRulesAreCompletedFromContextAndDefaults(t *testing.T) {
	file := `
contexts:
  - name: a
    ledgers: [{name: main, dsn: "sqlite:x"}]
    settle: 10m
    policy: {retry: default, max_retry: 25, timeout: 30m, queue_wait: 10m}
    rules:
      - mark: {table: t, column: c}
        policy: {max_retry: 3}
        settle: 1m
      - match: {type: x}
`
	settings := mustResolve(t, machine(nil, map[string]string{defaultPath: file}), Request{})
	first, second := settings.Context.Rules[0], settings.Context.Rules[1]
	for name, ok := range map[string]bool{
		"match":         first.Match.Type.Value == "*" && first.Match.Queue.Value == "*" && first.Match.Type.Source.Kind == SourceDefault,
		"key":           first.Key.Value == "id",
		"atomic":        first.Atomic.Value,
		"max_effects":   first.MaxEffects.Value == 1,
		"ledger":        first.Mark.Ledger.Value == "main",
		"own settle":    first.Settle.Value == time.Minute,
		"settle":        second.Settle.Value == 10*time.Minute,
		"confirm_after": second.ConfirmAfter.Value == DefaultConfirmAfter,
		"policy":        first.Policy.MaxRetry.Value == 3 && first.Policy.Timeout.Value == 30*time.Minute && first.Policy.Retry.Source.Where == defaultPath+":6:21",
		"class":         first.Class.Value == ClassUnknown,
	} {
		if !ok {
			t.Errorf("%s is not complete: %+v", name, first)
		}
	}
	settings = mustResolve(t, machine(nil, map[string]string{defaultPath: file}), Request{Flags: Flags{"settle": {"7m"}}})
	if got := settings.Context.Rules[0].Settle; got.Value != 7*time.Minute || got.Source.Where != "--settle" {
		t.Errorf("a flag did not beat the rule's settle: %v", got)
	}
	settings = mustResolve(t, machine(nil, nil), Request{})
	if settings.Context.Settle.IsSet() {
		t.Error("settle has a default, though it depends on the task's timeout")
	}
}

func TestLedgersOfTheCommandLineJoinThoseOfTheFile(t *testing.T) {
	two := "contexts: [{name: a, ledgers: [{name: main, dsn: 'sqlite:main'}, {name: audit, dsn: 'sqlite:${UNSET}'}]}]"
	one := "contexts: [{name: a, ledgers: [{name: main, dsn: 'sqlite:main'}]}]"
	for name, c := range map[string]struct {
		file      string
		variables map[string]string
		flags     []string
		want      string
	}{
		"none":                        {"", nil, nil, ""},
		"alone":                       {"", nil, []string{"postgres://h/db?a=b"}, "default=postgres://h/db?a=b"},
		"keyword form is no name":     {"", nil, []string{"host=h user=u"}, "default=host=h user=u"},
		"named":                       {"", nil, []string{"x=sqlite:x", "y=sqlite:y"}, "x=sqlite:x y=sqlite:y"},
		"replaces by name":            {two, nil, []string{"audit=sqlite:other"}, "main=sqlite:main audit=sqlite:other"},
		"replaces the only one":       {one, nil, []string{"sqlite:other"}, "main=sqlite:other"},
		"adds":                        {one, nil, []string{"new=sqlite:new"}, "main=sqlite:main new=sqlite:new"},
		"variable":                    {"", map[string]string{"IDEMCTL_LEDGER": "x=sqlite:x\ny=sqlite:y\n"}, nil, "x=sqlite:x y=sqlite:y"},
		"flag beats variable":         {"", map[string]string{"IDEMCTL_LEDGER": "sqlite:x"}, []string{"sqlite:y"}, "default=sqlite:y"},
		"DATABASE_URL":                {"", map[string]string{"DATABASE_URL": "postgres://h/db"}, nil, "default=postgres://h/db"},
		"the file beats DATABASE_URL": {one, map[string]string{"DATABASE_URL": "postgres://h/db"}, nil, "main=sqlite:main"},
		"the flag beats DATABASE_URL": {"", map[string]string{"DATABASE_URL": "postgres://h/db"}, []string{"sqlite:y"}, "default=sqlite:y"},
		"name and reference":          {"", map[string]string{"URL": "sqlite:u"}, []string{"main=${URL}"}, "main=sqlite:u"},
	} {
		files := map[string]string{}
		if c.file != "" {
			files[defaultPath] = c.file
		}
		settings := mustResolve(t, machine(c.variables, files), Request{Flags: Flags{"ledger": c.flags}})
		var got []string
		for _, ledger := range settings.Context.Ledgers {
			got = append(got, ledger.Name.Value+"="+ledger.DSN.Value.Reveal())
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %v, want %s", name, got, c.want)
		}
	}
	for name, c := range map[string]struct {
		flags []string
		want  string
	}{
		"no name among several": {[]string{"sqlite:x", "audit=sqlite:y"}, "--ledger: a DSN without a name, expected NAME=DSN with NAME one of main, audit"},
		"twice":                 {[]string{"main=sqlite:x", "main=sqlite:y", "audit=sqlite:y"}, "--ledger: the ledger main is given twice, expected it once, or another NAME=DSN"},
		"empty":                 {[]string{"", "audit=sqlite:y"}, "--ledger: empty, expected DSN or NAME=DSN"},
		"unset variable":        {nil, defaultPath + ":1:85: contexts[0].ledgers[1].dsn: environment variable UNSET is not set, expected it to hold this value"},
	} {
		_, err := Resolve(machine(nil, map[string]string{defaultPath: two}), Request{Flags: Flags{"ledger": c.flags}})
		if got := lines(t, err); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, c.want)
		}
	}
}

func TestRuleWhoseLedgerIsNowhereIsAnError(t *testing.T) {
	env := machine(nil, map[string]string{defaultPath: "contexts:\n  - name: a\n    rules:\n      - mark: {ledger: main, table: t, column: c}\n"})
	_, err := Resolve(env, Request{})
	want := []string{defaultPath + ":4:15: contexts[0].rules[0].mark: there is no ledger to look in, expected ledgers in the context, or --ledger main=DSN"}
	if got := lines(t, err); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	_, err = Resolve(env, Request{Flags: Flags{"ledger": {"mian=sqlite:x"}}})
	want = []string{defaultPath + `:4:24: contexts[0].rules[0].mark.ledger: no ledger is named "main", expected mian; did you mean "mian"?`}
	if got := lines(t, err); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err = Resolve(env, Request{Flags: Flags{"ledger": {"main=sqlite:x"}}}); err != nil {
		t.Error(err)
	}
}

func TestRedactionOfTheFileIsNeverLost(t *testing.T) {
	env := machine(map[string]string{"IDEMCTL_REDACT": "c,d"}, map[string]string{defaultPath: "contexts: [{name: a, redact: [e]}]"})
	var got []string
	for _, path := range mustResolve(t, env, Request{Flags: Flags{"redact": {"a", "b"}}}).Context.Redact {
		got = append(got, path.Value+" "+path.Source.Kind.String())
	}
	if want := []string{"a flag", "b flag", "c env", "d env", "e file"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestOtherFlagsComeFromEnvironmentThenFile(t *testing.T) {
	env := machine(map[string]string{"IDEMCTL_PAGE_SIZE": "7", "IDEMCTL_QUIET": "true"}, map[string]string{
		defaultPath: "contexts: [{name: a, flags: {page_size: 500, utc: true, output: wide}}]",
	})
	known := []string{"page-size", "utc", "output", "quiet", "uri", "config"}
	flags := mustResolve(t, env, Request{Flags: Flags{"output": {"json"}}, Known: known}).Context.Flags
	got := map[string]string{}
	for name, value := range flags {
		got[name] = value.text() + " " + value.Source.Kind.String()
	}
	want := map[string]string{"page-size": "7 env", "utc": "true file", "quiet": "true env"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	_, err := Resolve(env, Request{Known: []string{"page-size", "utc", "outputs"}})
	wrong := []string{defaultPath + `:1:65: contexts[0].flags.output: no such flag, expected the name of a flag; did you mean "outputs"?`}
	if got := lines(t, err); !slices.Equal(got, wrong) {
		t.Errorf("got %q, want %q", got, wrong)
	}
}

func TestFilesBesideTheConfigurationAreFoundFromAnywhere(t *testing.T) {
	env := machine(nil, map[string]string{"/etc/idemctl/c.yaml": `contexts: [{name: a, journal: {file: j.jsonl},
  redis: {uri: "h:1", tls_ca: ca.pem, tls_cert: ~/c.pem, tls_key: /k.pem, password: "file:pw"}}]`, "/etc/idemctl/pw": "secret"})
	context := mustResolve(t, env, Request{Flags: Flags{"config": {"/etc/idemctl/c.yaml"}}}).Context
	got := []string{
		context.Journal.File.Value, context.Redis.TLSCA.Value, context.Redis.TLSCert.Value, context.Redis.TLSKey.Value,
		context.Redis.Password.Value.Reveal(),
	}
	want := []string{"/etc/idemctl/j.jsonl", "/etc/idemctl/ca.pem", "/home/op/c.pem", "/k.pem", "secret"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestLocateTakesTheFirstPlaceThatIsNamed(t *testing.T) {
	all := map[string]string{
		"IDEMCTL_CONFIG": "/named.yaml", "IDEMCTL_CONFIG_DIR": "/dir", "XDG_CONFIG_HOME": "/xdg", "AppData": "/appdata",
	}
	for n, c := range []struct {
		unset   string
		named   string
		windows bool
		want    Location
	}{
		{"", "/flag.yaml", false, Location{"/flag.yaml", true, Source{Kind: SourceFlag, Where: "--config"}}},
		{"", "", false, Location{"/named.yaml", true, Source{Kind: SourceEnv, Where: "IDEMCTL_CONFIG"}}},
		{"IDEMCTL_CONFIG", "", false, Location{"/dir/config.yaml", false, Source{Kind: SourceEnv, Where: "IDEMCTL_CONFIG_DIR"}}},
		{"IDEMCTL_CONFIG_DIR", "", false, Location{"/xdg/idemctl/config.yaml", false, Source{Kind: SourceDefault}}},
		{"", "", true, Location{"/appdata/idemctl/config.yaml", false, Source{Kind: SourceDefault}}},
		{"XDG_CONFIG_HOME", "", false, Location{defaultPath, false, Source{Kind: SourceDefault}}},
	} {
		delete(all, c.unset)
		env := machine(all, nil)
		env.Windows = c.windows
		if got := Locate(env, c.named); got != c.want {
			t.Errorf("%d: got %+v, want %+v", n, got, c.want)
		}
	}
	if got := Locate(Environment{}, ""); got.Path != "" {
		t.Errorf("without a home directory: %+v", got)
	}
	relative := machine(map[string]string{"XDG_CONFIG_HOME": "relative"}, nil)
	if got := Locate(relative, ""); got.Path != defaultPath {
		t.Errorf("a relative XDG_CONFIG_HOME gave %s", got.Path)
	}
}

func TestLoadForgivesOnlyAMissingDefaultFile(t *testing.T) {
	if file, err := Load(machine(nil, nil), Locate(machine(nil, nil), "")); err != nil || file.Path != "" {
		t.Errorf("missing default: %v %v", file, err)
	}
	_, err := Load(machine(nil, nil), Locate(machine(nil, nil), "/c.yaml"))
	var missing *Error
	if !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &missing) || missing.Hint != "idemctl config init --config /c.yaml" {
		t.Errorf("missing named file: %v", err)
	}
	denied := machine(nil, nil)
	denied.ReadFile = func(path string) ([]byte, error) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}
	}
	if _, err := Load(denied, Locate(denied, "")); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("unreadable default file: %v", err)
	}
}

func TestBrokenFileOfTheAsynqCLIIsAnErrorWithItsPlace(t *testing.T) {
	for text, want := range map[string]string{
		"db: hunter2\n":             "/home/op/.asynq.yaml:1:5: db: not a valid value, expected a whole number, zero or more",
		"password: [\n":             "/home/op/.asynq.yaml:1:11: not valid YAML: sequence end token ']' not found, expected YAML 1.2",
		"- uri\n":                   "/home/op/.asynq.yaml:1:1: a list, expected a mapping",
		"uri: h:1\ndb: {hunter: 2}": "/home/op/.asynq.yaml:2:5: db: a mapping, expected a whole number, zero or more",
	} {
		_, err := Resolve(machine(nil, map[string]string{"/home/op/.asynq.yaml": text}), Request{})
		if got := lines(t, err); !slices.Equal(got, []string{want}) {
			t.Errorf("%q:\n got %q\nwant %q", text, got, want)
		}
		// It is not even read where something above names the server.
		env := machine(map[string]string{"REDIS_URL": "redis://h:1"}, map[string]string{"/home/op/.asynq.yaml": text})
		if _, err := Resolve(env, Request{}); err != nil {
			t.Errorf("%q with REDIS_URL: %v", text, err)
		}
	}
	empty := machine(nil, map[string]string{"/home/op/.asynq.yaml": "uri:\npassword: ''\n"})
	if uri := mustResolve(t, empty, Request{}).Context.Redis.URI; uri.Source.Kind != SourceDefault {
		t.Errorf("empty keys gave %v from %v", uri.Value, uri.Source)
	}
}
