package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/inspect/retry"
)

// mostQuestion bounds one line of a batch.
const mostQuestion = 4 << 20

// runBatch answers one question a line, in order, as they come. A question that
// makes no sense gets its error as answer; a line that is no JSON object does
// too, and makes the exit code 2.
func (o *ttlCalcOptions) runBatch(ctx context.Context) error {
	in := o.in
	if o.batch != "-" {
		f, err := os.Open(o.batch)
		if err != nil {
			return usagef("--batch: %w", err)
		}
		defer func() { _ = f.Close() }() // it was only read
		in = f
	}
	ctx, cancel := o.bounded(ctx)
	defer cancel()
	out := bufio.NewWriter(o.out)
	b := batch{out: out, flush: o.outTerminal || o.batch == "-"}
	err := b.answer(ctx, in)
	if flushed := out.Flush(); flushed != nil {
		return &writeError{flushed}
	}
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		o.log.warnf("stopped after %d questions: the answers are incomplete", b.asked)
		return outcome(exitIncomplete)
	case err != nil:
		return err
	case b.broken > 0:
		return &usageError{
			err:  fmt.Errorf("%d of %d lines are no questions; the first is line %d", b.broken, b.asked, b.firstBroken),
			hint: `a question reads {"id": "1", "family": "lifetime", "params": {"max_retry": 8}}`,
		}
	case b.refused > 0:
		o.log.warnf("%d of %d questions have an error for an answer", b.refused, b.asked)
	}
	return nil
}

// batch counts what was asked.
type batch struct {
	out     *bufio.Writer
	flush   bool // after every answer: somebody may wait for it
	asked   int
	refused int // questions with an error for an answer
	broken  int // lines that are no JSON object
	// firstBroken is the number of the first of them, from 1.
	firstBroken int
}

func (b *batch) answer(ctx context.Context, in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 64<<10), mostQuestion)
	for number := 1; lines.Scan(); number++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		if err := b.one(line, number); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return usagef("reading questions after line %d: %w", b.asked, err)
	}
	return nil
}

func (b *batch) one(line []byte, number int) error {
	b.asked++
	question, err := retry.ParseRequest(line)
	a := render.TTLAnswer{ID: question.ID, Family: question.Family, Err: err}
	if err == nil {
		a.Result, a.Err = retry.Evaluate(question)
	}
	var object map[string]json.RawMessage
	switch {
	case a.Err == nil:
	case json.Unmarshal(line, &object) != nil:
		b.broken++
		if b.broken == 1 {
			b.firstBroken = number
		}
	default:
		b.refused++
	}
	if err := render.WriteTTLAnswer(b.out, a); err != nil {
		return &writeError{err}
	}
	if !b.flush {
		return nil
	}
	if err := b.out.Flush(); err != nil {
		return &writeError{err}
	}
	return nil
}
