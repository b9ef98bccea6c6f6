package inspect

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Client reads asynq's data from one Redis. It is safe for concurrent use.
type Client struct {
	target    target
	redis     redis.UniversalClient
	inspector *asynq.Inspector
	names     interner
	pace      pace
}

// quiet keeps go-redis from writing to standard error: what it would say comes
// back as an error as well. The logger is the whole process's.
var quiet = sync.OnceFunc(func() { redis.SetLogger(&logging.VoidLogger{}) })

// Open connects and makes sure that somebody answers. The caller closes the
// client. Errors are *Error, or ctx.Err() once ctx is done.
func Open(ctx context.Context, o Options) (*Client, error) {
	t, err := o.resolve()
	if err != nil {
		return nil, err
	}
	quiet()
	rdb, err := t.dial()
	if err != nil {
		return nil, err
	}
	c := &Client{target: t, redis: rdb, inspector: asynq.NewInspectorFromRedisClient(rdb)}
	c.pace.perSecond = t.Rate
	if err := c.probe(ctx); err != nil {
		_ = rdb.Close()
		return nil, c.openError(ctx, err)
	}
	return c, nil
}

// openError adds what is only to be suspected of a first attempt: a plain port
// does not answer the start of a TLS handshake, and a server that misses the
// client's certificate hangs up after it.
func (c *Client) openError(ctx context.Context, err error) error {
	err = c.fault(ctx, "connect", err)
	var e *Error
	if !errors.As(err, &e) || !c.target.TLS {
		return err
	}
	switch {
	case e.Kind == KindTimeout:
		e.hint = "nobody answered the TLS handshake: leave out --tls if the server does not speak TLS"
	case e.Kind == KindUnreachable && hungUp(e.Err):
		e.Kind = KindTLS
		e.hint = "the server hung up on the TLS connection: it may ask for a client certificate (cert_file and key_file in --uri)"
	}
	return err
}

// Close ends the connections. Listings that are under way fail.
func (c *Client) Close() error {
	return c.redis.Close()
}

// probe sends what every server answers, and finds out whether a single server
// was taken for a cluster or the reverse. A user who may not PING or see INFO is
// connected all the same.
func (c *Client) probe(ctx context.Context) error {
	if err := c.redis.Ping(ctx).Err(); err != nil && !refused(err) {
		return err
	}
	if c.target.mode == modeCluster {
		return nil
	}
	server, err := c.redis.Info(ctx, "server").Result()
	// Valkey writes server_mode.
	if err == nil && strings.Contains(server, "_mode:cluster") {
		return &Error{
			Kind: KindClusterMismatch, Op: "connect", Addr: c.target.address(),
			Err: errors.New("this is a node of a Redis Cluster"), hint: "add --cluster",
		}
	}
	return nil
}

// Now is the time of Redis, whose clock the audit's times are compared by. An
// ACL may refuse it: KindDenied. In a cluster it is one node's.
func (c *Client) Now(ctx context.Context) (time.Time, error) {
	now, err := c.redis.Time(ctx).Result()
	return now, c.fault(ctx, "asking the time", err)
}

// retries beyond the first attempt, for a connection that breaks in the middle
// of a long listing; reads are safe to repeat.
const (
	retries         = 2
	retryBackoff    = 50 * time.Millisecond
	maxRetryBackoff = 200 * time.Millisecond
)

func (t *target) dial() (redis.UniversalClient, error) {
	config, err := t.tlsConfig()
	if err != nil {
		return nil, err
	}
	name := t.ClientName
	// CLIENT SETNAME goes by itself, since the connection would be given up if
	// an ACL refused it among the commands that go-redis sends.
	onConnect := func(ctx context.Context, cn *redis.Conn) error {
		err := cn.ClientSetName(ctx, name).Err()
		var reply redis.Error
		if errors.As(err, &reply) {
			return nil
		}
		return err
	}
	switch t.mode {
	case modeSentinel:
		return redis.NewFailoverClient(t.failoverOptions(config, onConnect)), nil
	case modeCluster:
		return redis.NewClusterClient(t.clusterOptions(config, onConnect)), nil
	default:
		return redis.NewClient(t.standaloneOptions(config, onConnect)), nil
	}
}

type connectFunc = func(context.Context, *redis.Conn) error

// RESP2 is spoken throughout: it is what every server, proxy and miniredis
// knows, and nothing here needs more.
const protocol = 2

func (t *target) standaloneOptions(config *tls.Config, onConnect connectFunc) *redis.Options {
	return &redis.Options{
		Network: t.network, Addr: t.addrs[0], DB: t.DB,
		Username: t.Username, Password: t.Password,
		Protocol: protocol, DisableIdentity: true, OnConnect: onConnect,
		MaxRetries: retries, MinRetryBackoff: retryBackoff, MaxRetryBackoff: maxRetryBackoff, DialerRetries: 1,
		DialTimeout: t.DialTimeout, ReadTimeout: t.ReadTimeout, WriteTimeout: t.ReadTimeout,
		ContextTimeoutEnabled: true, TLSConfig: config,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
}

func (t *target) failoverOptions(config *tls.Config, onConnect connectFunc) *redis.FailoverOptions {
	return &redis.FailoverOptions{
		MasterName: t.SentinelMaster, SentinelAddrs: t.addrs,
		SentinelUsername: t.SentinelUsername, SentinelPassword: t.SentinelPassword,
		DB: t.DB, Username: t.Username, Password: t.Password,
		Protocol: protocol, DisableIdentity: true, OnConnect: onConnect,
		MaxRetries: retries, MinRetryBackoff: retryBackoff, MaxRetryBackoff: maxRetryBackoff, DialerRetries: 1,
		DialTimeout: t.DialTimeout, ReadTimeout: t.ReadTimeout, WriteTimeout: t.ReadTimeout,
		ContextTimeoutEnabled: true, TLSConfig: config,
	}
}

// clusterOptions reads from masters: replicas lag.
func (t *target) clusterOptions(config *tls.Config, onConnect connectFunc) *redis.ClusterOptions {
	return &redis.ClusterOptions{
		Addrs: t.addrs, Username: t.Username, Password: t.Password,
		Protocol: protocol, DisableIdentity: true, OnConnect: onConnect,
		MinRetryBackoff: retryBackoff, MaxRetryBackoff: maxRetryBackoff, DialerRetries: 1,
		DialTimeout: t.DialTimeout, ReadTimeout: t.ReadTimeout, WriteTimeout: t.ReadTimeout,
		ContextTimeoutEnabled: true, TLSConfig: config,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
}

// tlsConfig is nil without TLS. With no server name, the host that is dialled
// is the one that the certificate must hold, which in a cluster is each node's.
func (t *target) tlsConfig() (*tls.Config, error) {
	if !t.TLS {
		return nil, nil
	}
	// InsecureSkipVerify is what the operator asked for by --insecure.
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.TLSServer, InsecureSkipVerify: t.Insecure}
	if t.CAFile != "" {
		pool, err := certPool(t.CAFile)
		if err != nil {
			return nil, &Error{Kind: KindTLS, Op: "reading the CA file", Err: err, hint: "check --tls and the CA file"}
		}
		config.RootCAs = pool
	}
	if t.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, &Error{Kind: KindTLS, Op: "reading the client certificate", Err: err, hint: "check the certificate and key files"}
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

func certPool(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no certificate", file)
	}
	return pool, nil
}
