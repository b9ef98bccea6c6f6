package inspect

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/redis/go-redis/v9"
)

// ErrQueueNotFound says that a queue is not in asynq:queues. Errors that wrap it
// name the queue.
var ErrQueueNotFound = errors.New("queue not found")

// ErrorKind says why Redis could not be used. The zero value is KindUnknown.
type ErrorKind uint8

// Why Redis could not be used.
const (
	KindUnknown         ErrorKind = iota
	KindUnreachable               // nobody answers at the address
	KindDenied                    // NOAUTH, WRONGPASS, NOPERM
	KindTLS                       // the handshake failed, or TLS met a plain port
	KindBadAddress                // the options cannot be used; nothing was dialled
	KindClusterMismatch           // a cluster was addressed as one server, or the reverse
	KindReadOnlyReplica           // a replica without its master, or a write refused
	KindTimeout                   // no answer in time
	KindLoading                   // Redis is reading its data from disk
)

var kindNames = [...]string{
	"unknown", "unreachable", "denied", "tls", "bad-address",
	"cluster-mismatch", "read-only-replica", "timeout", "loading",
}

// String is a lower-case word for the kind.
func (k ErrorKind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[KindUnknown]
}

// Error is what this package returns when Redis cannot be used. It never holds
// a password.
type Error struct {
	Kind ErrorKind
	Op   string // what was tried, such as "connect"
	Addr string // where; "" when no address could be read from the options
	Err  error  // the cause

	hint string
}

// Error says what failed and where.
func (e *Error) Error() string {
	if e.Addr == "" {
		return e.Op + ": " + e.Err.Error()
	}
	return fmt.Sprintf("redis at %s: %s: %v", e.Addr, e.Op, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Hint says what to type next; "" when there is nothing to say.
func (e *Error) Hint() string {
	if e.hint != "" {
		return e.hint
	}
	switch e.Kind {
	case KindUnreachable:
		return "check the address with --uri HOST:PORT, and that Redis is running there"
	case KindDenied:
		return e.deniedHint()
	case KindTLS:
		return "check --tls, --tls_server and the CA file; --insecure accepts any certificate"
	case KindBadAddress:
		return "write --uri HOST:PORT or --uri redis://USER:PASSWORD@HOST:PORT/DB, with special characters as %XX"
	case KindClusterMismatch:
		return "add --cluster for a Redis Cluster, and leave it out for a single server"
	case KindReadOnlyReplica:
		return "use the address of the master, or a redis-sentinel:// URI"
	case KindTimeout:
		return "raise --timeout, or lower --page-size if Redis is busy"
	case KindLoading:
		return "wait until Redis has loaded its data, then run the command again"
	default:
		return ""
	}
}

func (e *Error) deniedHint() string {
	switch {
	case redis.HasErrorPrefix(e.Err, "NOPERM"):
		return "let the user run read commands on asynq:* (ACL SETUSER name ~asynq:* +@read +ping +time +info)"
	case redis.HasErrorPrefix(e.Err, "NOAUTH"):
		return "give a password with --password or in --uri, and a user with --username"
	default:
		return "check --username and --password"
	}
}

// fault turns what go-redis returned into an *Error. A context that is done
// outranks what it made go-redis say; nil stays nil.
func (c *Client) fault(ctx context.Context, op string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var known *Error
	if errors.As(err, &known) || errors.Is(err, ErrQueueNotFound) {
		return err
	}
	return newError(op, c.target.address(), c.target.secrets(), err)
}

func newError(op, addr string, secrets []string, err error) *Error {
	e := &Error{Kind: classify(err), Op: op, Addr: addr, Err: err}
	text := err.Error()
	scrubbed := text
	for _, s := range secrets {
		scrubbed = strings.ReplaceAll(scrubbed, s, "…")
	}
	if scrubbed != text {
		e.Err = errors.New(scrubbed)
	}
	switch {
	case e.Kind == KindClusterMismatch:
		e.hint = clusterHint(err)
	case e.Kind == KindUnreachable && hungUp(err):
		e.hint = "somebody answers and hangs up: add --tls if the server speaks TLS"
	}
	return e
}

// hungUp says whether a connection was made and then closed by the other side.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
}

func clusterHint(err error) string {
	if strings.Contains(err.Error(), "cluster support disabled") {
		return "leave out --cluster: this is a single server"
	}
	return "add --cluster: this is a node of a Redis Cluster"
}

func classify(err error) ErrorKind {
	var reply redis.Error
	if errors.As(err, &reply) {
		return classifyReply(err)
	}
	if isTLS(err) {
		return KindTLS
	}
	var netErr net.Error
	if errors.As(err, &netErr) && netErr.Timeout() ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, redis.ErrPoolTimeout) {
		return KindTimeout
	}
	var opErr *net.OpError
	var errno syscall.Errno
	if errors.As(err, &opErr) || errors.As(err, &errno) || hungUp(err) ||
		strings.Contains(err.Error(), "sentinels are unreachable") {
		return KindUnreachable
	}
	return KindUnknown
}

// replyKinds reads the first word of an error reply, which is Redis's own
// classification of it.
var replyKinds = []struct {
	prefix string
	kind   ErrorKind
}{
	{"NOAUTH", KindDenied},
	{"WRONGPASS", KindDenied},
	{"NOPERM", KindDenied},
	{"invalid password", KindDenied},
	{"AUTH <password> called without any password", KindDenied},
	{"Client sent AUTH, but no password is set", KindDenied},
	{"MOVED", KindClusterMismatch},
	{"ASK", KindClusterMismatch},
	{"CROSSSLOT", KindClusterMismatch},
	{"This instance has cluster support disabled", KindClusterMismatch},
	{"READONLY", KindReadOnlyReplica},
	{"MASTERDOWN", KindReadOnlyReplica},
	{"LOADING", KindLoading},
	{"CLUSTERDOWN", KindUnreachable},
	{"max number of clients reached", KindUnreachable},
}

func classifyReply(err error) ErrorKind {
	for _, r := range replyKinds {
		if redis.HasErrorPrefix(err, r.prefix) {
			return r.kind
		}
	}
	return KindUnknown
}

func isTLS(err error) bool {
	var (
		record   tls.RecordHeaderError
		verify   *tls.CertificateVerificationError
		unknown  x509.UnknownAuthorityError
		hostname x509.HostnameError
		invalid  x509.CertificateInvalidError
		alert    tls.AlertError
	)
	return errors.As(err, &record) || errors.As(err, &verify) || errors.As(err, &unknown) ||
		errors.As(err, &hostname) || errors.As(err, &invalid) || errors.As(err, &alert) ||
		strings.Contains(err.Error(), "tls: ")
}
