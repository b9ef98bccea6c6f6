package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tmuxSeat is the program in a tmux of its own: what is seen is what tmux has drawn.
type tmuxSeat struct {
	t      *testing.T
	socket string
}

// inTmux starts the program in a window of 100×30.
func inTmux(t *testing.T, env []string, args ...string) *tmuxSeat {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("there is no tmux here (apt-get install tmux)") //nolint:forbidigo // the same runs on a bare pseudo-terminal, too
	}
	path, err := exec.LookPath("idemctl")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "tmux-") //nolint:usetesting // a socket's path has to be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &tmuxSeat{t: t, socket: filepath.Join(dir, "s")}
	line := append([]string{"-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "30", "env", "TZ=UTC"}, env...)
	line = append(line, "sh", "-c", `"$@"; echo "left with exit code $?"; exec sleep 600`, "sh", path)
	s.tmux(append(line, args...)...)
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", s.socket, "kill-server").Run() })
	return s
}

// tmux runs one of tmux's commands.
func (s *tmuxSeat) tmux(args ...string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), "tmux", append([]string{"-S", s.socket}, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %s: %v: %s", args[0], err, out)
	}
	return string(out)
}

func (s *tmuxSeat) types(text string) screen {
	s.t.Helper()
	line := []string{"send-keys", "-H"}
	for _, b := range []byte(text) {
		line = append(line, fmt.Sprintf("%02x", b))
	}
	s.tmux(line...)
	return s
}

func (s *tmuxSeat) sees(texts ...string) screen {
	s.t.Helper()
	for end := time.Now().Add(90 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		shown := s.tmux("capture-pane", "-p")
		missing := ""
		for _, text := range texts {
			if !strings.Contains(shown, text) {
				missing = text
			}
		}
		switch {
		case missing == "":
			return s
		case time.Now().After(end):
			s.t.Fatalf("%q is not shown in:\n%s", missing, shown)
		}
	}
}

// leaves also looks at how the terminal is left: with the screen and the cursor of
// before.
func (s *tmuxSeat) leaves(code int) {
	s.t.Helper()
	s.sees(fmt.Sprintf("left with exit code %d", code))
	if got := strings.TrimSpace(s.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}")); got != "0 1" {
		s.t.Errorf("it is left with %q (other screen, cursor), want %q", got, "0 1")
	}
}
