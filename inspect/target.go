package inspect

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

const (
	defaultDialTimeout = 3 * time.Second
	defaultReadTimeout = 10 * time.Second
	defaultClientName  = "idemctl"
)

// Validate says whether the options can be used, without dialling. The error is
// an *Error of KindBadAddress.
func (o Options) Validate() error {
	_, err := o.resolve()
	return err
}

// Address is where the options lead, without user or password, for messages:
// "127.0.0.1:6379", "/run/redis.sock", "mymaster (by sentinel h1:26379)". It is ""
// when the options cannot be used.
func (o Options) Address() string {
	t, err := o.resolve()
	if err != nil {
		return ""
	}
	return t.address()
}

// resolve joins the URI with the fields that outrank it.
func (o Options) resolve() (target, error) {
	t, err := parseURI(o.URI)
	if err == nil {
		err = t.overlay(o)
	}
	if err != nil {
		return target{}, &Error{Kind: KindBadAddress, Op: "reading the redis URI", Err: err}
	}
	return t, nil
}

func (t *target) overlay(o Options) error {
	t.URI = o.URI
	set(&t.Username, o.Username)
	set(&t.Password, o.Password)
	set(&t.DB, o.DB)
	set(&t.SentinelMaster, o.SentinelMaster)
	set(&t.SentinelUsername, o.SentinelUsername)
	set(&t.SentinelPassword, o.SentinelPassword)
	set(&t.TLSServer, o.TLSServer)
	set(&t.CAFile, o.CAFile)
	set(&t.CertFile, o.CertFile)
	set(&t.KeyFile, o.KeyFile)
	set(&t.DialTimeout, o.DialTimeout)
	set(&t.ReadTimeout, o.ReadTimeout)
	set(&t.ClientName, o.ClientName)
	set(&t.Rate, o.Rate)
	t.TLS = t.TLS || o.TLS || t.TLSServer != "" || t.CAFile != "" || t.CertFile != ""
	t.Insecure = t.Insecure || o.Insecure
	t.defaults()
	if err := t.choose(o); err != nil {
		return err
	}
	return t.check()
}

// set stores v unless it is the zero value.
func set[T comparable](to *T, v T) {
	var zero T
	if v != zero {
		*to = v
	}
}

func (t *target) defaults() {
	if t.DialTimeout == 0 {
		t.DialTimeout = defaultDialTimeout
	}
	if t.ReadTimeout == 0 {
		t.ReadTimeout = defaultReadTimeout
	}
	if t.ClientName == "" {
		t.ClientName = defaultClientName
	}
}

// choose settles on cluster or sentinel where the options ask for them.
func (t *target) choose(o Options) error {
	if o.Cluster || len(o.ClusterAddrs) > 0 {
		if t.mode == modeSentinel {
			return errors.New("a sentinel URI and --cluster exclude each other")
		}
		t.mode = modeCluster
	}
	if o.SentinelMaster != "" {
		if t.mode == modeCluster {
			return errors.New("a sentinel master and a cluster exclude each other")
		}
		t.mode = modeSentinel
	}
	if len(o.ClusterAddrs) == 0 {
		return nil
	}
	t.network, t.addrs = "tcp", nil
	return t.parseHosts(strings.Join(o.ClusterAddrs, ","))
}

func (t *target) check() error {
	switch {
	case t.mode != modeStandalone && t.network == "unix":
		return errors.New("a unix socket leads to a single server, not to a cluster or sentinel")
	case t.mode == modeStandalone && len(t.addrs) > 1:
		return errors.New("several addresses need --cluster or a redis-sentinel:// URI")
	case t.mode == modeStandalone && t.SentinelMaster != "":
		return errors.New("a sentinel master needs a redis-sentinel:// URI")
	case t.mode == modeSentinel && t.SentinelMaster == "":
		return errors.New("a sentinel URI names the master: redis-sentinel://HOST:PORT/MASTER")
	case t.mode == modeCluster && t.DB != 0:
		return errors.New("a cluster has database 0 only")
	case (t.CertFile == "") != (t.KeyFile == ""):
		return errors.New("a client certificate needs its key, and the key its certificate")
	case t.DB < 0:
		return errors.New("the database is not a number from 0 on")
	case t.DialTimeout < 0 || t.ReadTimeout < 0 || t.Rate < 0:
		return errors.New("a timeout or rate is negative")
	}
	return nil
}

// address names the target without secrets.
func (t *target) address() string {
	addrs := strings.Join(t.addrs, ",")
	if t.mode == modeSentinel {
		return fmt.Sprintf("%s (by sentinel %s)", t.SentinelMaster, addrs)
	}
	return addrs
}

// secrets are what no error may hold. Shorter ones are part of any text, and
// would only garble it.
func (t *target) secrets() []string {
	const shortest = 4
	var out []string
	for _, s := range []string{t.Password, t.SentinelPassword} {
		if len(s) >= shortest {
			out = append(out, s)
		}
	}
	return out
}
