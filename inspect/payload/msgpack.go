package payload

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// msgpackReader turns MessagePack into JSON in one pass, without recursion and
// without building values: member order, duplicate names and all digits of
// integers survive, and a length that the input cannot back is refused before
// anything is allocated. That is why no decoding library stands here.
type msgpackReader struct {
	p     []byte
	i     int
	out   []byte
	mute  bool // only validate
	stack []msgpackLevel
}

// msgpackLevel is an open map or array; a map's left counts names and values.
type msgpackLevel struct {
	left   uint64
	object bool
	fresh  bool
}

var (
	errMsgpackShort = errors.New("ends too early")
	errMsgpackTail  = errors.New("more follows the value")
)

func decodeMsgpack(payload []byte) ([]byte, error) {
	r := msgpackReader{p: payload, out: make([]byte, 0, len(payload)+len(payload)/2)}
	if err := r.read(); err != nil {
		return nil, fmt.Errorf("byte %d: %w", r.i, err)
	}
	return r.out, nil
}

// isMsgpack says whether the bytes are one MessagePack map, array, string or byte
// string. Bare numbers are not asked for: every ASCII character is one.
func isMsgpack(p []byte) bool {
	if len(p) == 0 {
		return false
	}
	switch c := p[0]; {
	case c >= 0x80 && c <= 0xBF, c >= 0xC4 && c <= 0xC6, c >= 0xD9 && c <= 0xDF:
	default:
		return false
	}
	r := msgpackReader{p: p, mute: true}
	return r.read() == nil
}

func (r *msgpackReader) read() error {
	for {
		if err := r.item(); err != nil {
			return err
		}
		for len(r.stack) > 0 && r.stack[len(r.stack)-1].left == 0 {
			r.close()
		}
		if len(r.stack) == 0 {
			break
		}
	}
	if r.i < len(r.p) {
		return errMsgpackTail
	}
	return nil
}

// item reads one scalar, or the head of a container.
func (r *msgpackReader) item() error {
	name := r.begin()
	if len(r.out) > DecodeLimit {
		return ErrDecodedTooLarge
	}
	head, err := r.take(1)
	if err != nil {
		return err
	}
	c := head[0]
	kind, size := msgpackShape(c)
	if name && kind != msgpackText && !r.mute {
		return errors.New("a map key is not a string, which JSON cannot say")
	}
	switch kind {
	case msgpackText:
		return r.text(c, size)
	case msgpackBytes:
		return r.bytes(size)
	case msgpackMap:
		return r.open(c, size, true)
	case msgpackArray:
		return r.open(c, size, false)
	case msgpackExtension:
		return r.extension(size)
	default:
		return r.scalar(c)
	}
}

// begin writes what stands before an item and counts it; it is true for names.
func (r *msgpackReader) begin() (name bool) {
	if len(r.stack) == 0 {
		return false
	}
	top := &r.stack[len(r.stack)-1]
	name = top.object && top.left%2 == 0
	switch {
	case top.object && !name:
		r.write(":")
	case !top.fresh:
		r.write(",")
	}
	top.fresh = false
	top.left--
	return name
}

func (r *msgpackReader) close() {
	top := r.stack[len(r.stack)-1]
	r.stack = r.stack[:len(r.stack)-1]
	if top.object {
		r.write("}")
	} else {
		r.write("]")
	}
}

func (r *msgpackReader) open(c byte, size int, object bool) error {
	count, err := r.length(c, size, 0x0F)
	if err != nil {
		return err
	}
	if object {
		count *= 2
		r.write("{")
	} else {
		r.write("[")
	}
	if count > uint64(len(r.p)-r.i) {
		return errMsgpackShort // every item takes a byte at least
	}
	if len(r.stack) == MaxDepth {
		return errTooDeep
	}
	r.stack = append(r.stack, msgpackLevel{left: count, object: object, fresh: true})
	return nil
}

// length reads a length of size bytes, or takes it out of the head byte.
func (r *msgpackReader) length(c byte, size int, mask byte) (uint64, error) {
	if size == 0 {
		return uint64(c & mask), nil
	}
	b, err := r.take(size)
	if err != nil {
		return 0, err
	}
	return bigEndian(b), nil
}

func bigEndian(b []byte) uint64 {
	var wide [8]byte
	copy(wide[8-len(b):], b)
	return binary.BigEndian.Uint64(wide[:])
}

func (r *msgpackReader) take(n int) ([]byte, error) {
	if n > len(r.p)-r.i {
		return nil, errMsgpackShort
	}
	r.i += n
	return r.p[r.i-n : r.i], nil
}

func (r *msgpackReader) run(n uint64) ([]byte, error) {
	if n > uint64(len(r.p)-r.i) {
		return nil, errMsgpackShort
	}
	return r.take(int(n))
}

func (r *msgpackReader) write(s string) {
	if !r.mute {
		r.out = append(r.out, s...)
	}
}

func (r *msgpackReader) text(c byte, size int) error {
	n, err := r.length(c, size, 0x1F)
	if err != nil {
		return err
	}
	content, err := r.run(n)
	if err != nil {
		return err
	}
	if !r.mute {
		r.out = appendQuoted(r.out, content)
	}
	return nil
}

// appendQuoted writes a JSON string. Bytes that are not UTF-8 stay, so that the
// rules see them.
func appendQuoted(dst, content []byte) []byte {
	dst = append(dst, '"')
	for _, c := range content {
		if c < ' ' || c == '"' || c == '\\' {
			dst = appendCanonicalRune(dst, rune(c))
		} else {
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

func (r *msgpackReader) bytes(size int) error {
	n, err := r.length(0, size, 0)
	if err != nil {
		return err
	}
	content, err := r.run(n)
	if err != nil || r.mute {
		return err
	}
	r.out = append(r.out, '"')
	r.out = base64.StdEncoding.AppendEncode(r.out, content)
	r.out = append(r.out, '"')
	return nil
}

// scalar reads nil, booleans and numbers.
func (r *msgpackReader) scalar(c byte) error {
	switch {
	case c <= 0x7F:
		r.write(strconv.Itoa(int(c)))
	case c >= 0xE0:
		r.write(strconv.Itoa(int(int8(c))))
	case c == 0xC0:
		r.write("null")
	case c == 0xC2:
		r.write("false")
	case c == 0xC3:
		r.write("true")
	case c >= 0xCA && c <= 0xD3:
		return r.number(c)
	default:
		return fmt.Errorf("byte 0x%02x is not MessagePack", c)
	}
	return nil
}

func (r *msgpackReader) number(c byte) error {
	widths := [...]int{4, 8, 1, 2, 4, 8, 1, 2, 4, 8}
	b, err := r.take(widths[c-0xCA])
	if err != nil {
		return err
	}
	bits := bigEndian(b)
	switch {
	case c == 0xCA:
		return r.float(float64(math.Float32frombits(uint32(bits))))
	case c == 0xCB:
		return r.float(math.Float64frombits(bits))
	case c <= 0xCF:
		r.write(strconv.FormatUint(bits, 10))
	default:
		shift := 64 - 8*len(b)
		r.write(strconv.FormatInt(int64(bits<<shift)>>shift, 10))
	}
	return nil
}

func (r *msgpackReader) float(f float64) error {
	if r.mute {
		return nil
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return errors.New("not a finite number, which JSON cannot say")
	}
	if f == 0 {
		if math.Signbit(f) {
			r.write("-")
		}
		r.write("0.0")
		return nil
	}
	var scratch [32]byte
	d := parseDecimal(strconv.AppendFloat(scratch[:0], f, 'e', -1, 64), make([]byte, 0, shortestDigits))
	r.out = d.appendES6(r.out)
	if d.isInteger() && d.exp <= 21 {
		r.write(".0")
	}
	return nil
}
