package bench

import (
	"io"
	"net"
	"testing"
	"time"
)

// roundTrip is what the slow line adds.
const roundTrip = time.Millisecond

// slowLine forwards TCP connections to target, with a round trip added and no
// bound on the bandwidth. It returns the address to connect to. The whole delay
// lies on the way there: a client cannot tell it from one that is shared by both
// directions, and one sleep of a millisecond is more exact than two of half.
func slowLine(b *testing.B, target string) string {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return // closed
			}
			go forward(near, target)
		}
	}()
	return l.Addr().String()
}

func forward(near net.Conn, target string) {
	defer near.Close()
	far, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer far.Close()
	go func() {
		_, _ = io.Copy(near, far)
		near.Close()
	}()
	delayed(far, near)
}

// parcel is what was read at once, and when it is due at the other end.
type parcel struct {
	data []byte
	due  time.Time
}

// delayed copies until either end is closed. Reading does not wait for what is
// on its way.
func delayed(to io.Writer, from io.Reader) {
	way := make(chan parcel, 256)
	go func() {
		defer close(way)
		for {
			buffer := make([]byte, 16<<10)
			n, err := from.Read(buffer)
			if n > 0 {
				way <- parcel{buffer[:n], time.Now().Add(roundTrip)}
			}
			if err != nil {
				return
			}
		}
	}()
	failed := false
	for p := range way {
		time.Sleep(time.Until(p.due))
		if !failed {
			_, err := to.Write(p.data)
			failed = err != nil
		}
	}
}
