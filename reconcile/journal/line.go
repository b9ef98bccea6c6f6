package journal

import (
	"bytes"
	"encoding/hex"
	"errors"
	"hash/crc32"
)

// MaxLine is the most bytes a line may have, its line feed not counted. It bounds
// what a reader must hold; a task that needs more cannot be journalled, and so
// not changed.
const MaxLine = 64 << 20

const (
	crcOpen  = `,"crc":"`
	crcClose = `"}`
	crcSize  = len(crcOpen) + 2*crc32.Size + len(crcClose)
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)

	errNoChecksum = errors.New("there is no checksum at its end")
	errChecksum   = errors.New("its checksum does not match its bytes")
)

// appendLine appends the object as a line, its checksum in place of the closing
// brace.
func appendLine(dst, object []byte) []byte {
	body := object[:len(object)-1]
	dst = append(dst, body...)
	dst = append(dst, crcOpen...)
	dst = hex.AppendEncode(dst, checksum(body))
	dst = append(dst, crcClose...)
	return append(dst, '\n')
}

// parseLine reads a line without its line feed.
func parseLine(line []byte) (Record, error) {
	split := len(line) - crcSize
	if split < 0 {
		return Record{}, errNoChecksum
	}
	body, end := line[:split], line[split:]
	if !bytes.HasPrefix(end, []byte(crcOpen)) || !bytes.HasSuffix(end, []byte(crcClose)) {
		return Record{}, errNoChecksum
	}
	sum := end[len(crcOpen) : len(end)-len(crcClose)]
	if !bytes.Equal(sum, hex.AppendEncode(nil, checksum(body))) {
		return Record{}, errChecksum
	}
	return decode(line)
}

func checksum(b []byte) []byte {
	sum := crc32.Checksum(b, castagnoli)
	return []byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}
}
