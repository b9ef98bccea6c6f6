package retry

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestParseParamsReadsEveryName(t *testing.T) {
	p, err := ParseParams([]byte(`{
		"max_retry": 4, "delay": {"kind": "exponential", "base": 5, "factor": 3, "cap": 600, "jitter": {"kind": "proportional", "fraction": 0.2}},
		"exec": {"min": 1, "typical": 2, "max": 30}, "queue_wait": {"min": 3, "max": 4}, "forward_interval_s": 6,
		"timeout_s": 31, "deadline_s": 1000, "process_in_s": 7, "crashes": 1, "requeues": 2, "shutdown_timeout_s": 8,
		"unique_ttl_s": 900, "period_s": 3600, "group": "g", "group_max_delay_s": 9, "is_failure_may_be_false": true,
		"queue_paused": true, "redis_down": true, "servers": 0}`))
	if err != nil {
		t.Fatal(err)
	}
	if p.Delay.String() != "exponential(base=5s, factor=3, cap=10m, jitter=20%)" {
		t.Errorf("delay is %s", p.Delay)
	}
	want := Params{
		MaxRetry: 4, Exec: Exec{Min: 1}, QueueWait: Range{3, 4}, ForwardInterval: 6, ProcessIn: 7, Crashes: 1, Requeues: 2,
		ShutdownTimeout: 8, Period: 3600, Group: "g", GroupMaxDelay: 9, IsFailureMayBeFalse: true, QueuePaused: true, RedisDown: true, Unserved: true,
	}
	for name, c := range map[string][2]Seconds{
		"exec.typical": {*p.Exec.Typical, 2}, "exec.max": {*p.Exec.Max, 30}, "timeout_s": {*p.Timeout, 31},
		"deadline_s": {*p.Deadline, 1000}, "unique_ttl_s": {*p.UniqueTTL, 900},
	} {
		if c[0] != c[1] {
			t.Errorf("%s is %v", name, c[0])
		}
	}
	p.Delay, p.Exec.Typical, p.Exec.Max, p.Timeout, p.Deadline, p.UniqueTTL = Policy{}, nil, nil, nil, nil, nil
	got, _ := json.Marshal(p)
	expected, _ := json.Marshal(want)
	if string(got) != string(expected) {
		t.Errorf("got  %s\nwant %s", got, expected)
	}
}

func TestParseParamsLeavesOutMeansAsynqsDefaults(t *testing.T) {
	p, err := ParseParams([]byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	if p.MaxRetry != 25 || p.Delay.Kind() != KindDefault || p.ForwardInterval != 5 || p.Timeout != nil || p.Unserved {
		t.Errorf("got %+v", p)
	}
	if p, err = ParseParams([]byte(`{"requeues": null, "timeout_s": null, "is_failure": "may_be_false", "servers": 2, "delay": "fixed(1m)"}`)); err != nil {
		t.Fatal(err)
	}
	if !p.RequeuesUnlimited || p.Timeout != nil || !p.IsFailureMayBeFalse || p.Unserved || p.Delay.String() != "fixed(1m)" {
		t.Errorf("got %+v", p)
	}
}

func TestDelayKindsReadFromJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"kind":"default"}`:                                                   "default",
		`{"kind":"fixed","seconds":60}`:                                        "fixed(1m)",
		`{"kind":"linear","base":0,"step":2,"cap":null}`:                       "linear(base=0s, step=2s)",
		`{"kind":"linear","step":2,"cap":3600}`:                                "linear(base=0s, step=2s, cap=1h)",
		`{"kind":"poly","coef":5,"power":2}`:                                   "poly(coef=5s, power=2)",
		`{"base":30,"kind":"exponential"}`:                                     "exponential(base=30s, factor=2)",
		`{"kind":"exponential","base":30,"factor":2,"jitter":{"kind":"full"}}`: "exponential(base=30s, factor=2, jitter=full)",
		`{"kind":"exponential","base":30,"factor":2,"jitter":"equal"}`:         "exponential(base=30s, factor=2, jitter=equal)",
		`{"kind":"exponential","base":30,"factor":2,"jitter":null}`:            "exponential(base=30s, factor=2)",
		`{"kind":"table","seconds":[30,60.5],"beyond":"last"}`:                 "table(30s, 60.5s)",
		`{"kind":"expr","expr":"30*n"}`:                                        `expr("30*n")`,
		`"exponential(base=30s, jitter=10%)"`:                                  "exponential(base=30s, factor=2, jitter=10%)",
	} {
		p, err := ParseParams([]byte(`{"delay":` + text + `}`))
		if err != nil || p.Delay.String() != want {
			t.Errorf("%s is %s (%v), want %s", text, p.Delay, err, want)
		}
	}
}

// Every line that makes no sense gives one short error that names the part.
func TestNonsenseParamsAreNamed(t *testing.T) {
	for text, part := range map[string]string{
		``:                                        "not a JSON object",
		`[]`:                                      "not a JSON object",
		`null`:                                    "not a JSON object",
		`{"max_retry":3`:                          "broken JSON",
		`{"max_retry":3} {}`:                      "more follows",
		`{"max_retry":3,"max_retry":4}`:           "max_retry is written twice",
		`{"Max_Retry":3}`:                         `unknown name "Max_Retry"`,
		`{"retries":3}`:                           `unknown name "retries"`,
		`{"exec":{"avg":3}}`:                      `exec: unknown name "avg"`,
		`{"max_retry":-1}`:                        "max_retry -1 is negative",
		`{"max_retry":2.5}`:                       "max_retry",
		`{"max_retry":"3"}`:                       "max_retry",
		`{"max_retry":null}`:                      "max_retry",
		`{"max_retry":1e400}`:                     "max_retry",
		`{"crashes":-1}`:                          "crashes -1 is negative",
		`{"requeues":1000000}`:                    "requeues 1000000 is above",
		`{"servers":-1}`:                          "servers",
		`{"timeout_s":-1}`:                        "timeout_s -1s is negative",
		`{"timeout_s":true}`:                      "timeout_s",
		`{"forward_interval_s":1e300}`:            "forward_interval_s is beyond",
		`{"queue_wait":{"min":5,"max":1}}`:        "queue_wait.min 5s is above",
		`{"queue_wait":{"max":-1}}`:               "queue_wait.max -1s is negative",
		`{"queue_wait":7}`:                        "queue_wait: not a JSON object",
		`{"exec":{"min":5,"max":1}}`:              "exec.min 5s is above exec.max 1s",
		`{"exec":{"typical":5,"max":1}}`:          "exec.typical 5s is above",
		`{"exec":{"min":3,"typical":1}}`:          "exec.typical 1s is below",
		`{"is_failure":"no"}`:                     "is_failure",
		`{"group":7}`:                             "group",
		`{"queue_paused":1}`:                      "queue_paused",
		`{"delay":7}`:                             "delay: not a JSON object",
		`{"delay":{}}`:                            "delay: kind is missing",
		`{"delay":{"kind":"unknown"}}`:            "delay: kind",
		`{"delay":{"kind":"fixed"}}`:              "delay: seconds is missing",
		`{"delay":{"kind":"fixed","seconds":-1}}`: "delay: seconds: -1s is negative",
		`{"delay":{"kind":"fixed","seconds":1,"step":2}}`:                                           `delay: unknown name "step"`,
		`{"delay":{"kind":"linear","base":9,"step":1,"cap":3}}`:                                     "cap 3s is below base 9s",
		`{"delay":{"kind":"poly","coef":1}}`:                                                        "power is missing",
		`{"delay":{"kind":"exponential","factor":2}}`:                                               "base is missing",
		`{"delay":{"kind":"exponential","base":1,"factor":0}}`:                                      "factor is 0",
		`{"delay":{"kind":"exponential","base":1,"jitter":{"kind":"proportional"}}}`:                "fraction is missing",
		`{"delay":{"kind":"exponential","base":1,"jitter":{"kind":"proportional","fraction":1.5}}}`: "jitter is above",
		`{"delay":{"kind":"exponential","base":1,"jitter":{"kind":"full","fraction":0.5}}}`:         "fraction is for",
		`{"delay":{"kind":"exponential","base":1,"jitter":{"fraction":0.5}}}`:                       "kind is missing",
		`{"delay":{"kind":"table","seconds":[]}}`:                                                   "table is empty",
		`{"delay":{"kind":"table","seconds":[1,null]}}`:                                             "entry 2 is null",
		`{"delay":{"kind":"table","seconds":[1,-2]}}`:                                               "entry 2",
		`{"delay":{"kind":"table","seconds":[1],"beyond":"stop"}}`:                                  "beyond",
		`{"delay":{"kind":"expr","expr":"n +"}}`:                                                    "does not compile",
		`{"delay":{"kind":"expr"}}`:                                                                 "expr is missing",
		`{"delay":"fixed(-1s)"}`:                                                                    "-1s is negative",
	} {
		_, err := ParseParams([]byte(text))
		if err == nil {
			t.Errorf("%s is accepted", text)
		} else if m := err.Error(); !strings.Contains(m, part) || strings.Contains(m, "\n") || !strings.HasPrefix(m, "params: ") {
			t.Errorf("%s: %s\nwant it to say %q", text, m, part)
		}
	}
}

func TestRequestsThatMakeNoSense(t *testing.T) {
	for text, part := range map[string]string{
		`{"id":"x","family":"lifetime"}`:                                                   "params is missing",
		`{"id":"x","params":{}}`:                                                           "family is missing",
		`{"id":"x","family":"fate","params":{}}`:                                           `unknown family "fate"`,
		`{"id":"x","family":"lifetime","params":{},"attempt":1}`:                           "attempt does not belong",
		`{"id":"x","family":"lifetime","params":{},"colour":1}`:                            `unknown name "colour"`,
		`{"id":"x","family":"attempt_start","params":{}}`:                                  "attempt is missing",
		`{"id":"x","family":"attempt_start","params":{},"attempt":27}`:                     "attempt 27 is not between 1 and 26",
		`{"id":"x","family":"attempt_start","params":{},"attempt":0}`:                      "attempt 0",
		`{"id":"x","family":"remaining","params":{},"seen":{"retried":0}}`:                 "seen: state is missing",
		`{"id":"x","family":"remaining","params":{},"seen":{"state":"retry","retried":0}}`: "next_process_in_s is missing",
		`{"id":"x","family":"remaining","params":{},"seen":{"state":"lost","retried":0}}`:  `unknown state "lost"`,
		`{"id":"x","family":"lock_risk","params":{}}`:                                      "unique_ttl_s is missing",
		`{"id":"x","family":"lock_risk","params":{"unique_ttl_s":9},"fail_prob":2}`:        "fail_prob 2",
		`{"id":"x","family":"lock_ttl"}`:                                                   "unique_ttl_s is missing",
		`{"id":"x","family":"lock_ttl","unique_ttl_s":0.5}`:                                "Unique TTL cannot be less than 1s",
		`{"id":"x","family":"retention","params":{},"policy":{"reruns":-1}}`:               "policy.reruns -1",
		`{"id":"x","family":"retention","params":{},"policy":{"zombie_s":"exec.min"}}`:     "zombie_s",
		`{"id":"x","family":"lifetime","params":{"max_retry":99999}}`:                      "max_retry 99999 is above 10000",
	} {
		r, err := ParseRequest([]byte(text))
		if err == nil {
			_, err = Evaluate(r)
		}
		if err == nil {
			t.Errorf("%s is answered", text)
		} else if !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v\nwant it to say %q", text, err, part)
		}
		if r.ID != "x" {
			t.Errorf("%s: the answer would not say which line it is for", text)
		}
	}
}

func TestAnswersAreDecimalsAndLists(t *testing.T) {
	r, err := ParseRequest([]byte(`{"id":"x","family":"lifetime","params":{"max_retry":140,"exec":{"max":0}}}`))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := Evaluate(r)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"min":10565316762,`, `"max":10565603692,`, `"unbounded_because":[]`, `"bounded":true`} {
		if !strings.Contains(string(data), part) {
			t.Errorf("%s\ndoes not hold %s", data, part)
		}
	}
	if strings.Contains(string(data), "e+") {
		t.Errorf("%s holds an exponent", data)
	}
}

// FuzzParseRequest: no line of a batch crashes or hangs the batch.
func FuzzParseRequest(f *testing.F) {
	lines := 0
	for _, list := range readVectors(f, "testdata/lifetime-vectors.json") {
		for _, v := range list {
			f.Add(v.Request)
			lines++
		}
	}
	if lines == 0 {
		f.Fatal("no seeds")
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := ParseRequest(line)
		if err != nil || r.Params.MaxRetry > 200 {
			return
		}
		answer, err := Evaluate(r)
		if err != nil {
			return
		}
		if _, err := json.Marshal(answer); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	})
}
