// Command pictures takes pictures of the browser as it is: it runs `idemctl demo
// tui` in tmux, presses keys, and writes what the terminal shows as SVG files.
//
//	make build && go run ./scripts/pictures bin/idemctl docs/pictures
//
// It needs tmux 3.2 or later.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// shot is one picture: what is pressed until it is taken.
type shot struct {
	name          string
	width, height int
	keys          []string // as tmux names keys; "…" waits for replies
}

var shots = []shot{
	{"overview", 100, 30, nil},
	{"tasks", 100, 24, []string{":archived", "Enter", "…", "j", "Space", "Space"}},
	{"task", 100, 34, []string{":retry", "Enter", "…", "Enter", "…"}},
	{"findings", 100, 24, []string{":findings", "Enter", "…", "l", "j"}},
	{"plan", 100, 24, []string{":archived", "Enter", "…", "*", "R", "…", "A"}},
	{"ttl", 100, 34, []string{":ttl", "Enter", "…", "/welcome", "Enter", "j", "Enter", "h"}},
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 3 {
		return errors.New("usage: pictures PROGRAM FOLDER")
	}
	program, err := filepath.Abs(os.Args[1])
	if err != nil {
		return err
	}
	for _, s := range shots {
		screen, err := s.take(program)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		file := filepath.Join(os.Args[2], s.name+".svg")
		if err := os.WriteFile(file, draw(screen, s.width, s.height), 0o644); err != nil {
			return err
		}
	}
	return nil
}

const (
	// beginning is how long the laboratory takes, and the first audit of it.
	beginning = 9 * time.Second
	// answering is how long replies are waited for, and typing how long keys are.
	answering = 2500 * time.Millisecond
	typing    = 150 * time.Millisecond
)

// take runs the program in a terminal of its own.
func (s shot) take(program string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	socket := "pictures-" + s.name + strconv.Itoa(os.Getpid())
	tmux := func(args ...string) (string, error) {
		out, err := exec.CommandContext(ctx, "tmux", append([]string{"-L", socket, "-f", os.DevNull}, args...)...).Output()
		return string(out), err
	}
	line := "TERM=screen-256color COLORTERM= TZ=UTC exec " + program + " demo tui --write 2>" + os.DevNull
	if _, err := tmux("new-session", "-d", "-x", strconv.Itoa(s.width), "-y", strconv.Itoa(s.height), line); err != nil {
		return "", fmt.Errorf("starting tmux: %w", err)
	}
	defer func() { _, _ = tmux("kill-server") }() // the pictures are taken
	time.Sleep(beginning)
	for _, k := range s.keys {
		if k == "…" {
			time.Sleep(answering)
			continue
		}
		args := []string{"send-keys", k}
		if k[0] == ':' || k[0] == '/' {
			args = []string{"send-keys", "-l", k}
		}
		if _, err := tmux(args...); err != nil {
			return "", err
		}
		time.Sleep(typing)
	}
	time.Sleep(typing)
	return tmux("capture-pane", "-e", "-p", "-N")
}
