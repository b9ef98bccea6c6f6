package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

// seat is somebody at a terminal: a pseudo-terminal with the program on it.
type seat struct {
	t    *testing.T
	pty  *os.File
	cmd  *exec.Cmd
	done chan error

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
	s := &seat{t: t, pty: pty, cmd: exec.CommandContext(t.Context(), path, args...), done: make(chan error, 1)}
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = tty, tty, tty
	s.cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true}
	s.cmd.Env = append(os.Environ(), append([]string{"TERM=screen-256color", "TZ=UTC"}, env...)...)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go s.read()
	go func() { s.done <- s.cmd.Wait() }()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = pty.Close()
	})
	return s
}

func (s *seat) read() {
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
func (s *seat) sees(texts ...string) *seat {
	s.t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		shown := s.shown()
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
func (s *seat) types(text string) *seat {
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
	case <-time.After(20 * time.Second):
		s.t.Fatalf("it does not end:\n%s", s.shown())
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

// A morning after a bad night, from the first look to the last change taken back.
func TestBrowserFromTheFirstLookToTheUndo(t *testing.T) {
	server, db := inspecttest.Start(t), reconciletest.Postgres(t)
	db.Exec(`CREATE TABLE processed_tasks (task_id text PRIMARY KEY, processed_at timestamptz NOT NULL DEFAULT now())`)
	made := server.Make(
		inspecttest.Spec{Outcome: inspecttest.Archived, Type: "payment:charge", Payload: []byte(`{"b":2,"a":1}`), Err: fmt.Errorf("bank: no answer")},
		inspecttest.Spec{Outcome: inspecttest.Archived, Type: "payment:refund", Err: fmt.Errorf("bank: refused")},
		inspecttest.Spec{Outcome: inspecttest.Archived, Type: "mail:send", Err: fmt.Errorf("smtp: 421")},
		inspecttest.Spec{Outcome: inspecttest.Pending, Type: "mail:send"},
	)
	charge, lost := made[0], made[2]
	db.Exec(fmt.Sprintf(`INSERT INTO processed_tasks (task_id) VALUES ('%s'), ('%s')`, charge.ID, made[1].ID))
	home := t.TempDir()
	config := filepath.Join(home, "config.yaml")
	write(t, config, fmt.Sprintf(`
current_context: night
contexts:
  - name: night
    settle: 1s
    confirm_after: 200ms
    redis: {uri: %q}
    ledgers:
      - {name: main, dsn: %q}
    rules:
      - match: {type: "*"}
        class: create
        mark: {table: processed_tasks, column: task_id, at: processed_at, retention: forever}
`, server.URI(), db.DSN))
	time.Sleep(2200 * time.Millisecond) // whole seconds lie behind the failures
	env := []string{"HOME=" + home, "XDG_STATE_HOME=" + home, "IDEMCTL_CONFIG=" + config, "IDEMCTL_PAGER=cat"}
	before := server.Snapshot()

	s := sitDown(t, env, "tui", "--write")
	s.sees("◆O night", "WRITE", "effect/applied-archived", "effect/lost", "default")
	s.types(":archived\r").sees("[archived 3]", "✓ applied", "○ not-applied", "of 3")
	s.types("/charge\r").sees("1 of 1")
	s.types("\r").sees("its effect is applied", "to scale", "bank: no answer")
	s.types("G").sees("canonical", `"a": 1`)
	s.types("e").sees("archived as failed", "payload     {")
	s.types("\x1b").sees("its effect is applied")
	time.Sleep(100 * time.Millisecond) // a second escape right behind would be another key
	s.types("\x1b").sees("1 of 1")
	time.Sleep(100 * time.Millisecond)
	s.types("\x1b").sees("of 3")
	s.types("*X").sees("Resolve 2, hold 1", "not-applied")
	s.types("Aresolve 3\r").sees("that is not it")
	if changed(server, before) {
		t.Fatal("something was changed that was not confirmed")
	}
	s.types("\x15resolve 2\r").sees("Applied 2 of 2", "z plans to undo it")
	if _, there := server.Snapshot()[inspect.TaskKey(charge)]; there {
		t.Error("the task that was resolved is still there")
	}
	s.types("z").sees("Restore 2, hold 0")
	s.types("Arestore 2\r").sees("Applied 2 of 2")
	if changed(server, before) {
		t.Errorf("after the undo Redis is not as it was:\n%v\n%v", server.Snapshot(), before)
	}
	s.types(":archived\r").sees("of 3")
	s.types("/mail\r").sees("1 of 1")
	s.types("R").sees("No live server takes tasks of its queue", "hold 1")
	s.types(":journal\r").sees("2 runs", "tui: restore", "tui: resolve of 3 tasks")
	s.types("\x03").leaves(exitDone)
	if _, there := server.Snapshot()[inspect.TaskKey(lost)]; !there {
		t.Error("the lost task is gone")
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
	proxy.Break(inspecttest.Fault{At: 1, Lasting: true})
	s.types("").sees("! Redis has not answered for", "evt_1", "! 5s ago")
	s.types("@").sees("idemctl tasks -s archived")
	s.types("?").sees("MOVING")
	s.types("\x03").leaves(exitDone)
}

// Only the browser speaks to the terminal beyond its results.
func TestOtherCommandsSendTheTerminalNothingButText(t *testing.T) {
	s := sitDown(t, []string{"TERM=xterm-256color", "HOME=" + t.TempDir()}, "version")
	s.leaves(exitDone)
	time.Sleep(100 * time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	if text := s.text.String(); strings.Contains(text, "\x1b") || !strings.Contains(text, "idemctl") {
		t.Errorf("the terminal was sent %q", text)
	}
}
