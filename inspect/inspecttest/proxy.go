package inspecttest

import (
	"bytes"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/idemctl/idemctl/inspect"
)

// Proxy stands between a client and a server, and can break a connection where
// it hurts: before the server was asked, or after it has done what it was asked.
type Proxy struct {
	network, addr string
	options       inspect.Options
	listener      net.Listener
	conns         sync.WaitGroup
	victim        atomic.Pointer[[]byte]
	cuts          atomic.Int64

	mu    sync.Mutex
	fault Fault
	asked int // requests since Break
	dead  bool
}

// Fault is what a proxy does to one request.
type Fault struct {
	// At is the request, counted from 1; 0: none. What a client writes at once,
	// such as a pipeline, is one request, and a new connection begins with some of
	// its own.
	At int
	// Answer says that the server gets the request and its answer is swallowed;
	// otherwise the request is.
	Answer bool
	// Lasting says that nobody gets an answer after that.
	Lasting bool
}

// Proxy starts one, which ends with the test.
func (s *Server) Proxy() *Proxy {
	s.t.Helper()
	p := NewProxy(s.t, s.Network, s.Addr)
	p.options = s.Options()
	p.options.URI = p.Addr()
	return p
}

// NewProxy is Proxy for any server whose clients wait for an answer before they
// ask again.
func NewProxy(t testing.TB, network, addr string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{network: network, addr: addr, listener: l}
	p.conns.Go(p.accept)
	t.Cleanup(func() {
		l.Close()
		p.conns.Wait()
	})
	return p
}

// Addr is where the proxy listens, host:port.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Options is how package inspect reaches the database through the proxy.
func (p *Proxy) Options() inspect.Options { return p.options }

// CutReplies has the proxy swallow the answer to every request that holds text,
// and close the connection.
func (p *Proxy) CutReplies(text string) {
	victim := []byte(text)
	p.victim.Store(&victim)
}

// Break sets the fault, and begins to count requests anew. The zero fault mends
// everything.
func (p *Proxy) Break(f Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault, p.asked, p.dead = f, 0, false
}

// Requests counts those since Break.
func (p *Proxy) Requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

// Cuts counts the answers that were swallowed.
func (p *Proxy) Cuts() int { return int(p.cuts.Load()) }

// fate is what happens to a request.
type fate uint8

const (
	passes fate = iota
	unasked
	unanswered
)

func (p *Proxy) next(request []byte) fate {
	if victim := p.victim.Load(); victim != nil && bytes.Contains(request, *victim) {
		return unanswered
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	switch {
	case p.dead:
		return unasked
	case p.asked != p.fault.At:
		return passes
	}
	p.dead = p.fault.Lasting
	if p.fault.Answer {
		return unanswered
	}
	return unasked
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.conns.Go(func() { p.serve(client) })
	}
}

// serve hands requests and answers on until either side closes.
func (p *Proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial(p.network, p.addr)
	if err != nil {
		return
	}
	defer server.Close()
	var cut atomic.Bool
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		defer client.Close()
		p.answers(client, server, &cut)
	}()
	p.requests(client, server, &cut)
	server.Close()
	<-answered
}

func (p *Proxy) answers(client, server net.Conn, cut *atomic.Bool) {
	buf := make([]byte, 64<<10)
	for {
		n, err := server.Read(buf)
		if err != nil {
			return
		}
		if cut.Load() {
			p.cuts.Add(1)
			return
		}
		if _, err := client.Write(buf[:n]); err != nil {
			return
		}
	}
}

func (p *Proxy) requests(client, server net.Conn, cut *atomic.Bool) {
	buf := make([]byte, 64<<10)
	for {
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		switch p.next(buf[:n]) {
		case unasked:
			return
		case unanswered:
			cut.Store(true)
		case passes:
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
	}
}
