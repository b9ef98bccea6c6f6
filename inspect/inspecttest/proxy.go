package inspecttest

import (
	"bytes"
	"io"
	"net"
	"sync"
	"sync/atomic"

	"github.com/idemctl/idemctl/inspect"
)

// Proxy stands between a client and the server, and can break a connection
// where it hurts: after the server has done what it was asked.
type Proxy struct {
	server   *Server
	listener net.Listener
	conns    sync.WaitGroup
	victim   atomic.Pointer[[]byte]
	cuts     atomic.Int64
}

// Proxy starts one, which ends with the test.
func (s *Server) Proxy() *Proxy {
	s.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	s.must(err)
	p := &Proxy{server: s, listener: l}
	p.conns.Go(p.accept)
	s.t.Cleanup(func() {
		l.Close()
		p.conns.Wait()
	})
	return p
}

// Options is how package inspect reaches the database through the proxy.
func (p *Proxy) Options() inspect.Options {
	o := p.server.Options()
	o.URI = p.listener.Addr().String()
	return o
}

// CutReplies has the proxy swallow the answer to every request that holds text,
// and close the connection.
func (p *Proxy) CutReplies(text string) {
	victim := []byte(text)
	p.victim.Store(&victim)
}

// Cuts counts the answers that were swallowed.
func (p *Proxy) Cuts() int { return int(p.cuts.Load()) }

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
	server, err := net.Dial(p.server.Network, p.server.Addr)
	if err != nil {
		return
	}
	defer server.Close()
	var cut atomic.Bool
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		defer client.Close()
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
	}()
	_, _ = io.Copy(server, io.TeeReader(client, watcher(func(request []byte) {
		if victim := p.victim.Load(); victim != nil && bytes.Contains(request, *victim) {
			cut.Store(true)
		}
	})))
	server.Close()
	<-answered
}

// watcher is called with what passes by.
type watcher func([]byte)

func (w watcher) Write(b []byte) (int, error) {
	w(b)
	return len(b), nil
}
