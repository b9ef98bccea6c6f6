package journal

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"reflect"
	"strconv"
	"testing"
)

// FuzzRead hands arbitrary files to the reader and to the writer that goes on
// behind them. With seal every line gets a good checksum, so that what stands
// behind the checksum is reached.
func FuzzRead(f *testing.F) {
	_, lines := written(f)
	whole := bytes.Join(lines, nil)
	seeds := [][]byte{
		whole, append(whole[:len(whole):len(whole)], '\n'), whole[:len(whole)/2], bytes.Replace(whole, []byte("archived"), []byte("pending!"), 2),
		bytes.Join([][]byte{lines[0], lines[2]}, nil), append(whole[:len(whole):len(whole)], make([]byte, 30)...),
		[]byte(`{"schema":"idemctl.journal/v1","seq":1,"kind":"result","run":"r","at":"2026-11-30T03:00:00Z","task_id_hex":"zz","outcome":"done"}` + "\n"),
		[]byte(`{"schema":"idemctl.journal/v1","seq":1,"kind":"intent","run":"r","at":"2026-11-30T03:00:00Z","task":{"places":[{"score":"NaN"}]}}` + "\n"),
	}
	records := 0
	for _, seed := range seeds {
		for _, seal := range []bool{false, true} {
			records += checkReading(f, seed, seal)
			f.Add(seed, seal)
		}
	}
	if records < 30 {
		f.Fatalf("the seeds hold %d records: they test nothing", records)
	}
	f.Fuzz(func(t *testing.T, b []byte, seal bool) { checkReading(t, b, seal) })
}

// checkReading returns how many records there were.
func checkReading(t testing.TB, b []byte, seal bool) (records int) {
	if seal {
		b = sealed(b)
	}
	s := newScanner("fuzz", bytes.NewReader(b))
	for {
		e, err := s.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			if !goesOn(err) {
				t.Fatalf("reading bytes failed: %v", err)
			}
			continue
		}
		records++
		checkEntry(t, b, e)
	}
	if s.offset != int64(len(b)) {
		t.Fatalf("%d of %d bytes were read", s.offset, len(b))
	}
	checkWriterAgrees(t, b)
	return records
}

// checkEntry computes the checksum again, by other means than the reader does.
func checkEntry(t testing.TB, b []byte, e entry) {
	line, _, _ := bytes.Cut(b[e.offset:], []byte("\n"))
	body, end := line[:len(line)-18], line[len(line)-18:]
	sum, err := strconv.ParseUint(string(end[8:16]), 16, 32)
	if err != nil || sum != uint64(crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli))) {
		t.Fatalf("a record was yielded from a line with a wrong checksum: %q", line)
	}
	once, err := again(e.Record)
	if err != nil {
		return // evidence that is no UTF-8, or a year beyond 9999: nothing we write
	}
	twice, err := again(once)
	if err != nil || !reflect.DeepEqual(once, twice) {
		t.Fatalf("%+v reads back as %+v (%v)", once, twice, err)
	}
}

func again(r Record) (Record, error) {
	object, err := encode(&r)
	if err != nil {
		return Record{}, err
	}
	line := appendLine(nil, object)
	return parseLine(line[:len(line)-1])
}

// checkWriterAgrees appends a record as Open would and sees that readers find it,
// whole and with the number they expect.
func checkWriterAgrees(t testing.TB, b []byte) {
	end, err := readTail(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return
	}
	b = append([]byte(nil), b[:end.end]...)
	if end.bare {
		b = append(b, '\n')
	}
	at := int64(len(b))
	object, err := encode(&Record{Seq: end.seq + 1, Kind: KindEnd, Run: "mark"})
	if err != nil {
		t.Fatal(err)
	}
	s := newScanner("fuzz", bytes.NewReader(appendLine(b, object)))
	for {
		e, err := s.next()
		if errors.Is(err, io.EOF) {
			t.Fatal("the appended record was not found")
		}
		var gap *GapError
		var torn *TornError
		if errors.As(err, &torn) || errors.As(err, &gap) && s.ahead.offset == at {
			t.Fatalf("the writer left %v", err)
		}
		if err == nil && e.offset == at {
			return
		}
	}
}

// sealed gives every line a good checksum.
func sealed(b []byte) []byte {
	var out []byte
	for line := range bytes.Lines(b) {
		body, whole := bytes.CutSuffix(line, []byte("\n"))
		if i := bytes.LastIndex(body, []byte(crcOpen)); i >= 0 {
			body = body[:i]
		} else {
			body = bytes.TrimSuffix(body, []byte("}"))
		}
		out = append(out, body...)
		out = fmt.Appendf(out, `,"crc":"%08x"}`, crc32.Checksum(body, castagnoli))
		if whole {
			out = append(out, '\n')
		}
	}
	return out
}
