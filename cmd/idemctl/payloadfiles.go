package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
)

// eachFile reads the files one after the other.
func (in *payloadInput) eachFile(ctx context.Context) error {
	for _, name := range in.files {
		if err := in.oneFile(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// oneFile reads a file, or standard input for "-". The error is that of the
// context or of take.
func (in *payloadInput) oneFile(ctx context.Context, name string) error {
	if name == "-" {
		return in.content(ctx, name, &interruptibleReader{ctx: ctx, r: in.in}, 0)
	}
	file, err := os.Open(name)
	if err != nil {
		in.fault(name, plainPathError(err), missingHint(err))
		return nil
	}
	defer func() { _ = file.Close() }() // only read
	state, err := file.Stat()
	switch {
	case err != nil:
		in.fault(name, plainPathError(err), "")
		return nil
	case state.IsDir():
		in.fault(name, errors.New("is a directory"), "name its files: "+name+"/*")
		return nil
	case state.Mode().IsRegular():
		return in.content(ctx, name, file, state.Size())
	default: // a pipe, which may have nothing to say for a long time
		return in.content(ctx, name, &interruptibleReader{ctx: ctx, r: file}, 0)
	}
}

// plainPathError leaves out the path, which is said already.
func plainPathError(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

func missingHint(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "payloads of tasks in Redis are read with -q QUEUE or -i ID"
	}
	return ""
}

// content reads the payloads of one file of about that size; 0: not known.
func (in *payloadInput) content(ctx context.Context, name string, r io.Reader, size int64) error {
	if in.lines || in.ndjson {
		return in.eachLine(ctx, name, r)
	}
	var content bytes.Buffer
	content.Grow(int(min(size, int64(in.largest))) + bytes.MinRead)
	_, err := content.ReadFrom(io.LimitReader(r, int64(in.largest)+1))
	raw := content.Bytes()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		in.fault(name, plainPathError(err), "")
		return nil
	case len(raw) > in.largest:
		in.fault(name, errTooLarge(in.largest), "a file is one payload; if its lines are payloads: --lines")
		return nil
	}
	return in.offer(ctx, &render.Payload{ID: name, Queue: in.queueOf(), Type: in.typeOf(), Raw: raw})
}

func errTooLarge(largest int) error {
	return fmt.Errorf("is larger than %d MiB, the most that Redis keeps of one value", largest>>20)
}

// eachLine reads payloads a line each, in memory of the longest one.
func (in *payloadInput) eachLine(ctx context.Context, name string, r io.Reader) error {
	lines := bufio.NewReaderSize(r, 1<<18)
	var line []byte
	for number, more := 1, true; more; number++ {
		var tooLong bool
		var err error
		line, tooLong, err = readLine(lines, line[:0], in.largest*2)
		more = err == nil
		place := name + ":" + strconv.Itoa(number)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && !errors.Is(err, io.EOF):
			in.fault(place, plainPathError(err), "")
		case tooLong:
			in.fault(place, errTooLarge(in.largest), "")
		case len(line) > 0: // nothing follows the last line's end
			if err := in.oneLine(ctx, place, number, trimLineEnd(line)); err != nil {
				return err
			}
		}
	}
	return nil
}

// readLine appends a line with its end to buffer. Of a line that is too long the
// rest is read and dropped.
func readLine(r *bufio.Reader, buffer []byte, most int) (line []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if len(buffer)+len(part) > most {
			tooLong = true
			buffer = buffer[:0]
		} else if !tooLong {
			buffer = append(buffer, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return buffer, tooLong, err
		}
	}
}

// trimLineEnd drops \n or \r\n.
func trimLineEnd(line []byte) []byte {
	body, ended := bytes.CutSuffix(line, []byte("\n"))
	if ended {
		body = bytes.TrimSuffix(body, []byte("\r"))
	}
	return body
}

func (in *payloadInput) oneLine(ctx context.Context, place string, number int, line []byte) error {
	if in.lines {
		return in.offer(ctx, &render.Payload{ID: place, Queue: in.queueOf(), Type: in.typeOf(), Raw: line})
	}
	if number == 1 {
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")) // the file's own mark, not the payload's
	}
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	p, hint, err := in.parseLine(line)
	if err != nil {
		in.fault(place, err, hint)
		return nil
	}
	if p.ID == "" {
		p.ID = place
	}
	return in.offer(ctx, p)
}

// payloadLine is a line of --ndjson.
type payloadLine struct {
	ID         string          `json:"id"`
	Type       string          `json:"type"`
	Queue      string          `json:"queue"`
	PayloadB64 *[]byte         `json:"payload_b64"`
	Payload    json.RawMessage `json:"payload"`
	// Encoding is written by commands that show payloads: what they show is not
	// what was enqueued, byte for byte.
	Encoding *string `json:"payload_encoding"`
}

// parseLine reads a line of --ndjson.
func (in *payloadInput) parseLine(line []byte) (*render.Payload, string, error) {
	const want = `each line is {"payload_b64": "…"} or {"payload": any JSON}, with "id", "type" and "queue" where they are known`
	var l payloadLine
	if err := json.Unmarshal(line, &l); err != nil {
		return nil, want, fmt.Errorf("line cannot be read: %w", err)
	}
	p := &render.Payload{ID: l.ID, Queue: l.Queue, Type: l.Type}
	switch {
	case l.Encoding != nil:
		return nil, "read the queue itself: -q QUEUE -i ID", errors.New("line shows a payload, and not the bytes that were enqueued")
	case l.PayloadB64 != nil && l.Payload != nil:
		return nil, want, errors.New("line has both payload and payload_b64")
	case l.PayloadB64 != nil:
		p.Raw = *l.PayloadB64
	case l.Payload != nil:
		p.Raw = l.Payload
	default:
		return nil, want, errors.New("line has neither payload nor payload_b64")
	}
	if p.Queue == "" {
		p.Queue = in.queueOf()
	}
	if p.Type == "" {
		p.Type = in.typeOf()
	}
	return p, "", nil
}

// interruptibleReader ends a read that hangs, as one from a terminal or a pipe
// does, when its context ends. It is not to be used after that.
type interruptibleReader struct {
	ctx  context.Context
	r    io.Reader
	done chan readResult
	own  []byte // what the reading goroutine fills
}

type readResult struct {
	n   int
	err error
}

func (r *interruptibleReader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	if r.done == nil {
		r.done = make(chan readResult, 1)
	}
	if len(r.own) < len(b) {
		r.own = make([]byte, len(b))
	}
	own := r.own[:len(b)]
	go func() {
		n, err := r.r.Read(own)
		r.done <- readResult{n, err}
	}()
	select {
	case got := <-r.done:
		return copy(b, own[:got.n]), got.err
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	}
}
