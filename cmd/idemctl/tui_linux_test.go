package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/idemctl/idemctl/inspect/inspecttest"
)

// seat is somebody at a terminal: a pseudo-terminal with the program on it.
type seat struct {
	t    *testing.T
	pty  *os.File
	cmd  *exec.Cmd
	done chan error
	read chan struct{} // closed once all that was written is in text

	mu   sync.Mutex
	text strings.Builder // everything that was shown
	from int             // what was seen already
}

// sitDown starts the program on a terminal of 100×30.
func sitDown(t *testing.T, env []string, args ...string) *seat {
	t.Helper()
	pty, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fd := int(pty.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 100}); err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tty.Close() }()
	// testscript.Main put the program beside the test binary, by its name.
	path, err := exec.LookPath("idemctl")
	if err != nil {
		t.Fatal(err)
	}
	s := &seat{t: t, pty: pty, cmd: exec.CommandContext(t.Context(), path, args...), done: make(chan error, 1), read: make(chan struct{})}
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr, s.cmd.Env = tty, tty, tty, os.Environ()
	s.cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true}
	for _, v := range append([]string{"TERM=screen-256color", "TZ=UTC"}, env...) {
		name, _, set := strings.Cut(v, "=")
		s.cmd.Env = slices.DeleteFunc(s.cmd.Env, func(have string) bool { return strings.HasPrefix(have, name+"=") })
		if set { // else it is left out
			s.cmd.Env = append(s.cmd.Env, v)
		}
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go s.reads()
	go func() { s.done <- s.cmd.Wait() }()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = pty.Close()
	})
	return s
}

func (s *seat) reads() {
	defer close(s.read)
	buf := make([]byte, 64<<10)
	for {
		n, err := s.pty.Read(buf)
		s.mu.Lock()
		s.text.Write(buf[:n])
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// sees waits until the texts were shown since the last keys.
func (s *seat) sees(texts ...string) screen {
	s.t.Helper()
	return s.until(func(shown string) string {
		for _, text := range texts {
			if !strings.Contains(shown, text) {
				return text
			}
		}
		return ""
	})
}

// until waits until nothing is missing in what was shown since the last keys.
func (s *seat) until(lacks func(shown string) string) screen {
	s.t.Helper()
	for end := time.Now().Add(90 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		shown := s.shown()
		missing := lacks(shown)
		switch {
		case missing == "":
			return s
		case time.Now().After(end):
			s.t.Fatalf("%q is not shown in:\n%s", missing, shown)
		}
	}
}

// shown is what was shown since the last keys. Lines that change are written anew
// as a whole.
func (s *seat) shown() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return escapes.ReplaceAllString(s.text.String()[s.from:], "")
}

// escapes are the sequences that the browser moves the cursor with.
var escapes = regexp.MustCompile("\x1b\\[[0-9;?]*[a-zA-Z]|\x1b[=>]")

// types types text, then looks at what comes after it.
func (s *seat) types(text string) screen {
	s.t.Helper()
	s.mu.Lock()
	s.from = s.text.Len()
	s.mu.Unlock()
	if _, err := s.pty.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
	return s
}

// leaves waits for the end of the program, with its exit code.
func (s *seat) leaves(code int) {
	s.t.Helper()
	select {
	case err := <-s.done:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			s.t.Fatal(err)
		}
	case <-time.After(90 * time.Second):
		s.t.Fatalf("it does not end:\n%s", s.shown())
	}
	select {
	case <-s.read: // the last one who has the terminal is gone
	case <-time.After(90 * time.Second):
		s.t.Fatalf("something of it still has the terminal:\n%s", s.shown())
	}
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		s.t.Errorf("exit code %d, want %d:\n%s", got, code, s.shown())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for on, off := range map[string]string{"\x1b[?1049h": "\x1b[?1049l", "\x1b[?25l": "\x1b[?25h"} {
		if all := s.text.String(); strings.LastIndex(all, off) < strings.LastIndex(all, on) {
			s.t.Errorf("the terminal is left with %q", on)
		}
	}
}

func changed(server *inspecttest.Server, before map[string]string) bool {
	now := server.Snapshot()
	if len(now) != len(before) {
		return true
	}
	for key, value := range before {
		if now[key] != value {
			return true
		}
	}
	return false
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestBareProgramBrowsesOnceAContextIsConfigured(t *testing.T) {
	server := inspecttest.Start(t)
	home := t.TempDir()
	env := []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "XDG_STATE_HOME=" + home}
	s := sitDown(t, env)
	s.sees("Usage:", "idemctl demo").leaves(exitDone)

	config := filepath.Join(home, "other.yaml")
	write(t, config, fmt.Sprintf("contexts:\n  - {name: one, redis: {uri: %q}, read_only: true}\n", server.URI()))
	s = sitDown(t, env, "--config", config, "--no-color")
	s.sees("○R one", "READ ONLY", "Redis knows no queue")
	s.types("q").leaves(exitDone)

	// What knows nothing but lines gets lines.
	env = append(env, "TERM=dumb")
	s = sitDown(t, env, "--config", config)
	s.sees("Usage:", "idemctl demo").leaves(exitDone)
	s = sitDown(t, env, "tui", "--config", config)
	s.sees("TERM=dumb", "idemctl audit").leaves(exitUsage)
}

func TestSignalEndsTheBrowserAndLeavesTheTerminalAsItWas(t *testing.T) {
	server := inspecttest.Start(t)
	s := sitDown(t, []string{"HOME=" + t.TempDir()}, "tui", "--uri", server.URI())
	s.sees("Redis knows no queue")
	if err := s.cmd.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.leaves(exitIncomplete)
}

func TestBrowserSurvivesTheLossOfRedis(t *testing.T) {
	server := inspecttest.Start(t)
	server.Make(inspecttest.Spec{Outcome: inspecttest.Archived, ID: "evt_1"})
	proxy := server.Proxy()
	s := sitDown(t, []string{"HOME=" + t.TempDir()}, "tui", "--uri", fmt.Sprintf("redis://%s/%d", proxy.Addr(), server.DB), "--refresh", "2s")
	s.sees("default")
	s.types(":archived\r").sees("evt_1")
	s.types("") // what is drawn from now on is seen
	proxy.Break(inspecttest.Fault{At: 1, Lasting: true})
	s.sees("! Redis has not answered since ", "evt_1")
	s.until(func(shown string) string {
		if !regexp.MustCompile(`! \d+s ago`).MatchString(shown) {
			return "an age with a sign"
		}
		return ""
	})
	s.types("@").sees("idemctl tasks -s archived")
	s.types("?").sees("MOVING")
	s.types("\x03").leaves(exitDone)
}

// Only the browser speaks to the terminal beyond its results.
func TestOtherCommandsSendTheTerminalNothingButText(t *testing.T) {
	s := sitDown(t, []string{"TERM=xterm-256color", "HOME=" + t.TempDir()}, "version")
	s.leaves(exitDone)
	s.sees("idemctl", "\n")
	s.mu.Lock()
	defer s.mu.Unlock()
	if text := s.text.String(); strings.Contains(text, "\x1b") || !strings.Contains(text, "idemctl") {
		t.Errorf("the terminal was sent %q", text)
	}
}
