package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/idemctl/idemctl/inspect/inspecttest"
)

// echoes says whether the terminal shows what is typed, as a shell needs it.
func (s *seat) echoes() bool {
	s.t.Helper()
	is, err := unix.IoctlGetTermios(int(s.pty.Fd()), unix.TCGETS)
	if err != nil {
		s.t.Fatal(err)
	}
	return is.Lflag&unix.ECHO != 0 && is.Lflag&unix.ICANON != 0
}

func TestQuitSignalLeavesTheTerminalAsItWas(t *testing.T) {
	server := inspecttest.Start(t)
	s := sitDown(t, []string{"HOME=" + t.TempDir()}, "tui", "--uri", server.URI())
	s.sees("Redis knows no queue")
	if s.echoes() {
		t.Fatal("the browser has not taken the terminal")
	}
	if err := s.cmd.Process.Signal(unix.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	s.leaves(exitQuit)
	if !s.echoes() {
		t.Error("the terminal is left raw")
	}
	if strings.Contains(s.shown(), "goroutine ") {
		t.Errorf("the terminal is full of goroutines:\n%s", s.shown())
	}
}

// A terminal that answers no question is not waited for, and what is typed at once
// is not lost.
func TestTerminalThatAnswersNothingIsNotWaitedFor(t *testing.T) {
	server := inspecttest.Start(t)
	server.Make(inspecttest.Spec{Outcome: inspecttest.Archived, ID: "evt_1"})
	var s *seat
	took := time.Hour
	for tries := 0; took > 7*time.Second && tries < 5; tries++ { // a machine that stands still does not do so each time
		begun := time.Now()
		s = sitDown(t, []string{"TERM=xterm-256color", "HOME=" + t.TempDir()}, "tui", "--uri", server.URI())
		s.types(":archived\r").sees("evt_1", "]11;?")
		took = time.Since(begun)
	}
	if took > 7*time.Second { // the old way took eight
		t.Errorf("the first screen was there after %v, and not sooner before", took)
	}
	if _, err := s.pty.WriteString("\x1b]11;rgb:ffff/ffff/ffff\x1b\\"); err != nil {
		t.Fatal(err)
	}
	s.types("@").sees("idemctl tasks -s archived") // and the late answer typed nothing
	s.types("\x03").leaves(exitDone)
}

// What is typed into the pager is the pager's, and the key after it the browser's.
func TestPagerHasTheKeysWhileItIsThere(t *testing.T) {
	server := inspecttest.Start(t)
	server.Make(inspecttest.Spec{Outcome: inspecttest.Archived, ID: "evt_1"})
	home := t.TempDir()
	pager := filepath.Join(home, "pager")
	write(t, pager, "#!/bin/sh\ncat >/dev/null\necho paged\nread line </dev/tty\necho \"pager read $line\"\nsleep 0.3\n")
	if err := os.Chmod(pager, 0o700); err != nil {
		t.Fatal(err)
	}
	s := sitDown(t, []string{"TERM=xterm-256color", "HOME=" + home, "IDEMCTL_PAGER=" + pager}, "tui", "--uri", server.URI())
	s.sees("default")
	s.types(":archived\r").sees("evt_1")
	s.types("e").sees("paged")
	s.types("q?\n").sees("pager read q?", "Tasks archived")
	s.types("?").sees("MOVING")
	s.types("\x03").leaves(exitDone)
}

func TestRefreshBelowItsFloorIsRefused(t *testing.T) {
	server := inspecttest.Start(t)
	home := "HOME=" + t.TempDir()
	for _, given := range [][]string{
		{"tui", "--uri", server.URI(), "--refresh", "1s"}, {"tui", "--uri", server.URI(), "--refresh", "0"}, {"tui", "--uri", server.URI(), "--refresh=-5s"},
	} {
		sitDown(t, []string{home}, given...).sees("error: --refresh", "after 2s at the least", "hint: idemctl tui --refresh 2s").leaves(exitUsage)
	}
	sitDown(t, []string{home, "IDEMCTL_REFRESH=1s"}, "tui", "--uri", server.URI()).sees("error: --refresh 1s").leaves(exitUsage)
	s := sitDown(t, []string{home}, "tui", "--uri", server.URI(), "--refresh", "2s")
	s.sees("Redis knows no queue")
	s.types("q").leaves(exitDone)
}

// The context is the file's until another is named, however the browser was started.
func TestContextIsSwitchedWhereNoneWasGiven(t *testing.T) {
	one, two := inspecttest.Start(t), inspecttest.Start(t)
	one.Make(inspecttest.Spec{Outcome: inspecttest.Archived, ID: "in-one"})
	two.Make(inspecttest.Spec{Outcome: inspecttest.Archived, ID: "in-two"})
	home := t.TempDir()
	config := filepath.Join(home, "config.yaml")
	write(t, config, fmt.Sprintf("current_context: one\ncontexts:\n  - {name: one, redis: {uri: %q}}\n  - {name: two, redis: {uri: %q}}\n", one.URI(), two.URI()))
	s := sitDown(t, []string{"HOME=" + home, "IDEMCTL_CONFIG=" + config}, "tui")
	s.sees("◆O one")
	s.types(":archived\r").sees("in-one")
	s.types(":ctx two\r").sees("◆O two", "context two")
	s.types(":archived\r").sees("in-two")
	s.types(":ctx one\r").sees("◆O one")
	s.types(":archived\r").sees("in-one")
	s.types("\x03").leaves(exitDone)
}

// Nor is one that nobody has named.
func TestTerminalWithoutANameIsNotWaitedFor(t *testing.T) {
	server := inspecttest.Start(t)
	server.Make(inspecttest.Spec{Outcome: inspecttest.Archived, ID: "evt_1"})
	s := sitDown(t, []string{"TERM", "HOME=" + t.TempDir()}, "tui", "--uri", server.URI())
	s.types(":archived\r").sees("evt_1") // asked, it would have taken that for its answer
	s.types("\x03").leaves(exitDone)
}
