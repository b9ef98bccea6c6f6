package main

import (
	"slices"
	"testing"
)

func TestRepeatedFlagsHoldNoSecret(t *testing.T) {
	cmd, _, err := newRoot(&program{}).Find([]string{"tui"})
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.ParseFlags([]string{
		"--uri", "redis://user:hidden@h", "--password", "hidden", "--ledger", "postgres://u:hidden@h/d", "--tls",
		"--cluster-addrs", "a:1,b:2", "--config", "it's.yaml", "--context", "one",
	}); err != nil {
		t.Fatal(err)
	}
	same, unsaid := repeated(cmd, []string{"--cluster-addrs", "--config", "--context", "--ledger", "--password", "--tls", "--uri"})
	if want := `--cluster-addrs=a:1 --cluster-addrs=b:2 --config='it'"'"'s.yaml' --context=one --tls`; same != want && same != `--cluster-addrs=a:1 --cluster-addrs=b:2 --config='it'\''s.yaml' --context=one --tls` {
		t.Errorf("the flags are %q", same)
	}
	if want := []string{"--ledger", "--password", "--uri"}; !slices.Equal(unsaid, want) {
		t.Errorf("%q are left out, want %q", unsaid, want)
	}
}
