package main

import (
	"io"
	"os"
	"strconv"
	"time"

	"golang.org/x/term"
)

// streams are a command's ways in and out. Results go to out, everything else
// to err.
type streams struct {
	in       io.Reader
	out, err io.Writer
	// outTerminal and errTerminal say whether a person looks at them.
	outTerminal, errTerminal bool
	// inTerminal says that a person can answer.
	inTerminal bool
	// width is the columns of out; 0 where it is no terminal.
	width func() int
	now   func() time.Time
}

func systemStreams() *streams {
	return &streams{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		inTerminal:  term.IsTerminal(int(os.Stdin.Fd())),
		outTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		errTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		width:       terminalWidth,
		now:         time.Now,
	}
}

// stickyWriter keeps the first write error and refuses to go on after it, so
// that a full disk cannot pass for a complete result.
type stickyWriter struct {
	w   io.Writer
	err error
}

func (s *stickyWriter) Write(b []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.w.Write(b)
	s.err = err
	return n, err
}

// terminalWidth is the width of standard output, COLUMNS where that cannot be
// had, and 0 for no terminal.
func terminalWidth() int {
	if w, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && w > 0 {
		return w
	}
	w, _ := strconv.Atoi(os.Getenv("COLUMNS"))
	return w
}

// colour says whether out may be coloured: on a terminal, unless NO_COLOR is set
// to anything, TERM is dumb, or the operator said no. CLICOLOR_FORCE colours a
// pipe.
func (s *streams) colour(lookup func(string) (string, bool), refused bool) bool {
	if v, ok := lookup("NO_COLOR"); refused || ok && v != "" {
		return false
	}
	if v, ok := lookup("CLICOLOR_FORCE"); ok && v != "" && v != "0" {
		return true
	}
	if v, _ := lookup("TERM"); v == "dumb" {
		return false
	}
	if v, ok := lookup("CLICOLOR"); ok && v == "0" {
		return false
	}
	return s.outTerminal
}
