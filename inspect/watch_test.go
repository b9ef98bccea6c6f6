package inspect_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/idemctl/idemctl/inspect/inspecttest"
)

// watch runs f and returns the commands that the user's connections sent
// meanwhile, as MONITOR saw them, by name in lower case with a subcommand after
// a bar; what scripts called is among them.
func watch(t *testing.T, s *inspecttest.Server, user string, f func()) map[string]int {
	t.Helper()
	conn, err := net.Dial("tcp", s.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprint(conn, "monitor\r\n"); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(conn)
	if reply, err := lines.ReadString('\n'); err != nil || !strings.HasPrefix(reply, "+OK") {
		t.Fatalf("monitor: %q, error %v", reply, err)
	}
	var seen []string
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			line, err := lines.ReadString('\n')
			if err != nil || strings.Contains(line, `"end of watch"`) {
				return
			}
			seen = append(seen, line)
		}
	})
	f()
	mine := addrsOf(t, s, user)
	s.Client().Echo(context.Background(), "end of watch")
	wg.Wait()
	return commandsOf(seen, mine)
}

// addrsOf are the addresses of the user's connections.
func addrsOf(t *testing.T, s *inspecttest.Server, user string) map[string]bool {
	t.Helper()
	addrs := make(map[string]bool)
	for line := range strings.Lines(s.Client().ClientList(context.Background()).Val()) {
		if !strings.Contains(line, " user="+user+" ") {
			continue
		}
		_, rest, _ := strings.Cut(line, " addr=")
		addr, _, _ := strings.Cut(rest, " ")
		addrs[addr] = true
	}
	return addrs
}

// commandsOf reads lines such as
//
//	+1339518083.107412 [0 127.0.0.1:60866] "client" "setname" "x"
//	+1339518083.107412 [0 lua] "hmget" "k" "f"
//
// A script's commands follow the command that runs it.
func commandsOf(lines []string, addrs map[string]bool) map[string]int {
	commands := make(map[string]int)
	mine := false
	for _, line := range lines {
		_, rest, _ := strings.Cut(line, "[")
		head, rest, ok := strings.Cut(rest, `] "`)
		if !ok {
			continue
		}
		_, from, _ := strings.Cut(head, " ")
		if from != "lua" {
			mine = addrs[from]
		}
		if !mine {
			continue
		}
		words := strings.Split(rest, `" "`)
		name := strings.ToLower(strings.Trim(words[0], "\"\n\r"))
		if (name == "client" || name == "acl") && len(words) > 1 {
			name += "|" + strings.ToLower(strings.Trim(words[1], "\"\n\r"))
		}
		commands[name]++
	}
	return commands
}
