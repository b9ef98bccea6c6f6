package inspect

import "testing"

func TestRestartedIsTheSamePlaceWithAnotherRunID(t *testing.T) {
	here := Identity{Addr: "127.0.0.1:6379", DB: 1, RunIDs: []string{"aa", "bb"}}
	for text, want := range map[string]bool{
		"127.0.0.1:6379/1#aa,bb": false,
		"127.0.0.1:6379/1#cc":    true,
		"127.0.0.1:6379/1":       false, // it did not tell
		"127.0.0.1:6379/2#cc":    false, // another database
		"redis:6379/1#aa,bb":     false, // the same by another name
		"redis:6379/1#cc":        false, // another place altogether
		"":                       false,
	} {
		if got := here.Restarted(text); got != want {
			t.Errorf("%q: %t, want %t", text, got, want)
		}
	}
	if (Identity{Addr: "a:1"}).Restarted("a:1/0#cc") {
		t.Error("a server that does not tell is taken for another")
	}
}
