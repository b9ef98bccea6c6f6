package inspect_test

import (
	"testing"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

func TestIdentityKnowsItsServerAgain(t *testing.T) {
	here := inspect.Identity{Addr: "127.0.0.1:6379", DB: 2, RunIDs: []string{"a", "b"}}
	for text, want := range map[string]bool{
		"":                        true, // a journal of before
		here.String():             true,
		"127.0.0.1:6379/2#c":      true, // started again
		"127.0.0.1:6379/2":        true,
		"localhost:6379/2#a,b":    true, // by another name
		"localhost:6379/2#a":      false,
		"localhost:6379/2":        false,
		"127.0.0.1:6379/3#a,b":    false,
		"localhost:6379/12#a,b":   false,
		"127.0.0.1:6380/2#a,c":    false,
		"/var/run/redis#1.sock/2": false,
	} {
		if got := here.Same(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	s := inspecttest.Start(t)
	c := open(t, s)
	id, err := c.Identity(t.Context())
	if err != nil || len(id.RunIDs) != 1 || len(id.RunIDs[0]) != 40 || id.Mode != "standalone" || !id.Same(id.String()) || id.Differs(id) != "" {
		t.Errorf("%v: %+v", err, id)
	}
}
