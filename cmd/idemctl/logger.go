package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
)

// logger writes what a command does, for people, away from its results. It is
// safe for concurrent use.
type logger struct {
	mu      sync.Mutex
	w       io.Writer
	verbose bool
	quiet   bool
	file    *os.File
}

// open sets the log up as the shared flags say.
func (l *logger) open(f sharedFlags) error {
	l.verbose, l.quiet = f.verbose, f.quiet
	if f.logFile == "" {
		return nil
	}
	file, err := os.OpenFile(f.logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return usagef("log file: %w", err)
	}
	l.file, l.w = file, file
	l.verbose = true
	return nil
}

func (l *logger) close() {
	if l.file != nil {
		_ = l.file.Close()
	}
}

// warnf says what the operator should know although the command goes on.
func (l *logger) warnf(format string, args ...any) {
	if l.quiet && l.file == nil {
		return
	}
	l.print("warning", format, args...)
}

// notef says what was done beside the results, and what comes next.
func (l *logger) notef(format string, args ...any) {
	if l.quiet && l.file == nil {
		return
	}
	l.print("note", format, args...)
}

// debugf says what is done, when asked to.
func (l *logger) debugf(format string, args ...any) {
	if l.verbose {
		l.print("debug", format, args...)
	}
}

func (l *logger) print(level, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := render.Visible(fmt.Sprintf(format, args...))
	if l.file != nil {
		fmt.Fprintf(l.w, "%s %s: %s\n", time.Now().UTC().Format(time.RFC3339), level, text)
		return
	}
	if level != "note" {
		text = level + ": " + text
	}
	fmt.Fprintf(l.w, "idemctl: %s\n", text)
}
