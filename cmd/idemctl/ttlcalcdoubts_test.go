package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect/inspecttest"
)

// drifted is a Redis with two tasks that wait an hour after their first failure,
// whose queue is served.
func drifted(t *testing.T) *inspecttest.Server {
	t.Helper()
	s := inspecttest.Start(t)
	options := []asynq.Option{asynq.MaxRetry(5), asynq.Timeout(3 * time.Second), asynq.Unique(20 * time.Minute)}
	s.Make(
		inspecttest.Spec{Type: "mail:send", Payload: []byte("1"), Outcome: inspecttest.Retry, Options: options},
		inspecttest.Spec{Type: "mail:send", Payload: []byte("2"), Outcome: inspecttest.Retry, Options: options},
	)
	served(t, s, "default")
	return s
}

// No lock is recommended, and none called long enough, under a policy that the
// observed delays refute; nothing on the page is called proven.
func TestObservedDelaysOutsideThePolicyGiveNoTTL(t *testing.T) {
	s := drifted(t)
	for _, unique := range []string{"", "20m"} {
		args := []string{"ttl-calc", "--observed", "-q", "default", "--type", "mail:send", "--uri", s.URI()}
		if unique != "" {
			args = append(args, "--unique", unique)
		}
		for _, format := range []string{"table", "wide"} {
			code, out, errs := inProcess(t, append(args, "-o", format)...)
			if code != exitDone {
				t.Errorf("%s: exit code %d: %s", format, code, errs)
			}
			plain := strings.Join(strings.Fields(out), " ")
			for _, want := range []string{"unknown", "2 of 2 delays seen of mail:send in default contradict the policy default, which nobody declared", "--policy 'fixed("} {
				if !strings.Contains(plain, want) {
					t.Errorf("%s does not say %q:\n%s", format, want, out)
				}
			}
			for _, never := range []string{"asynq.Unique(", "proven", "is long enough", "✓ a lock", "covers"} {
				if said := strings.ReplaceAll(plain, "is long enough, nobody can say", ""); strings.Contains(said, never) {
					t.Errorf("%s says %q:\n%s", format, never, out)
				}
			}
			if asks := strings.Contains(plain, "is long enough, nobody can say"); asks != (unique != "") {
				t.Errorf("%s: whether the lock that was asked about is long enough: %v\n%s", format, asks, out)
			}
		}
	}
}

// A script that reads the document finds no number to take.
func TestObservedDelaysOutsideThePolicyGiveNoNumber(t *testing.T) {
	s := drifted(t)
	code, out, errs := inProcess(t, "ttl-calc", "--observed", "--type", "mail:send", "--uri", s.URI(), "--unique", "20m", "-o", "json")
	var a struct {
		Bounded bool     `json:"bounded"`
		Unknown []string `json:"unknown_because"`
		Go      *string  `json:"go"`
		Safe    *float64 `json:"safe_unique_ttl_s"`
		TTL     *float64 `json:"recommended_unique_ttl_s"`
		Lock    any      `json:"lock"`
		Life    any      `json:"lifetime"`
	}
	if err := json.Unmarshal([]byte(out), &a); err != nil || code != exitDone {
		t.Fatalf("exit code %d, %v: %s%s", code, err, out, errs)
	}
	if a.Bounded || len(a.Unknown) != 1 || a.Go != nil || a.Safe != nil || a.TTL != nil || a.Lock != nil || a.Life != nil {
		t.Errorf("%s", out)
	}
}

// A policy that explains the delays is answered for, one that is declared and does
// not explain them is not.
func TestObservedDelaysAreJudgedByThePolicyInUse(t *testing.T) {
	s := drifted(t)
	args := []string{"ttl-calc", "--observed", "--type", "mail:send", "--uri", s.URI(), "--policy"}
	_, out, errs := inProcess(t, append(args, "fixed(1h)")...)
	// Five delays of an hour, six runs of 3 s, five hops of the forwarder.
	if !strings.HasPrefix(out, "asynq.Unique(") || !strings.Contains(out, "\t18043\n") {
		t.Errorf("%s%s", out, errs)
	}
	_, out, errs = inProcess(t, append(args, "fixed(5m)")...)
	if !strings.HasPrefix(out, "# unknown: ") || !strings.Contains(out, "contradict the policy fixed(5m): declare") {
		t.Errorf("%s%s", out, errs)
	}
}

// An answer for no type in particular is not in doubt for a type that has a policy of
// its own, and is for one that has none.
func TestObservedDelaysOfAnotherPolicyDoNotDoubtTheAnswer(t *testing.T) {
	s := drifted(t)
	config := t.TempDir() + "/config.yaml"
	writeConfig(t, config, `
current_context: c
contexts:
  - name: c
    redis: {uri: "`+s.URI()+`"}
    rules: [{match: {type: "mail:*"}, policy: {retry: fixed(5m)}}]
`)
	if _, out, errs := inProcess(t, "ttl-calc", "--observed", "--config", config); !strings.HasPrefix(out, "asynq.Unique(") {
		t.Errorf("%s%s", out, errs)
	}
	if _, out, errs := inProcess(t, "ttl-calc", "--observed", "--uri", s.URI()); !strings.HasPrefix(out, "# unknown: ") {
		t.Errorf("%s%s", out, errs)
	}
}
