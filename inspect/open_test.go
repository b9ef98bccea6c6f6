package inspect_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

// wantKind wants an *inspect.Error of the kind, with a hint, and returns what an
// operator would read of it.
func wantKind(t *testing.T, err error, kind inspect.ErrorKind) (text string) {
	t.Helper()
	var e *inspect.Error
	if !errors.As(err, &e) {
		t.Errorf("error %v is no *inspect.Error; want kind %v", err, kind)
		return ""
	}
	if e.Kind != kind || e.Hint() == "" {
		t.Errorf("error %q has kind %v and hint %q; want kind %v and a hint", e, e.Kind, e.Hint(), kind)
	}
	return e.Error() + "\n" + e.Hint()
}

func TestOpenNamesTheAddressThatNobodyAnswers(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	// At a client's own address nobody listens, and nobody else can meanwhile.
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	addr := client.LocalAddr().String()
	_, err = inspect.Open(context.Background(), inspect.Options{URI: "redis://u:sesame@" + addr})
	if text := wantKind(t, err, inspect.KindUnreachable); !strings.Contains(text, addr) || strings.Contains(text, "sesame") {
		t.Errorf("error %q does not name %s, or names the password", text, addr)
	}
	_, err = inspect.Open(context.Background(), inspect.Options{URI: "unix:///nonexistent/socket"})
	wantKind(t, err, inspect.KindUnreachable)
}

// A server that accepts and then says nothing must not be waited for forever.
func TestOpenGivesUpOnSilence(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	o := inspect.Options{URI: l.Addr().String(), ReadTimeout: 20 * time.Millisecond}
	_, err = inspect.Open(context.Background(), o)
	wantKind(t, err, inspect.KindTimeout)

	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	o.ReadTimeout = time.Hour
	if _, err := inspect.Open(ctx, o); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v; want the context's", err)
	}
}

// Redis answers nothing to the start of a TLS handshake on a plain port, and a
// TLS port answers a plain command by hanging up.
func TestOpenSuspectsTLSMismatch(t *testing.T) {
	plain := inspecttest.Start(t)
	_, err := inspect.Open(context.Background(), inspect.Options{URI: "rediss://" + plain.Addr, DialTimeout: 100 * time.Millisecond})
	if text := wantKind(t, err, inspect.KindTimeout); !strings.Contains(text, "leave out --tls") {
		t.Errorf("error %q does not speak of --tls", text)
	}
	secure, _ := inspecttest.StartTLS(t)
	_, err = inspect.Open(context.Background(), inspect.Options{URI: secure.Addr})
	if text := wantKind(t, err, inspect.KindUnreachable); !strings.Contains(text, "add --tls") {
		t.Errorf("error %q does not speak of --tls", text)
	}
}

func TestOpenSaysWhyItWasDenied(t *testing.T) {
	s := inspecttest.StartServer(t, "--requirepass", "open sesame")
	for name, o := range map[string]inspect.Options{
		"no password":    {URI: s.Addr},
		"wrong password": {URI: s.Addr, Password: "hunter2"},
		"wrong user":     {URI: "redis://nobody:hunter2@" + s.Addr},
	} {
		_, err := inspect.Open(context.Background(), o)
		if text := wantKind(t, err, inspect.KindDenied); strings.Contains(text, "hunter2") {
			t.Errorf("%s: error %q holds the password", name, text)
		}
	}
	openWith(t, inspect.Options{URI: "redis://:open%20sesame@" + s.Addr})
	openWith(t, inspect.Options{URI: "redis://default:open sesame@" + s.Addr})
}

// Whoever looks at CLIENT LIST on the server is to see who reads there.
func TestOpenTellsItsName(t *testing.T) {
	s := inspecttest.Start(t)
	open(t, s)
	o := s.Options()
	o.ClientName = "night-audit"
	openWith(t, o)
	clients := s.Client().ClientList(context.Background()).Val()
	for _, name := range []string{"name=idemctl ", "name=night-audit "} {
		if !strings.Contains(clients, name) {
			t.Errorf("no client shows %q", name)
		}
	}
}
