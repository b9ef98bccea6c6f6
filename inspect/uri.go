package inspect

import (
	"errors"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
)

// The URI forms, all of which keep the user name (asynq.ParseRedisURI drops it):
//
//	host[:port]  :port  [ipv6]:port  /path/of/socket
//	redis://[user[:password]@]host[:port][/db]      rediss:// with TLS; valkey:// and valkeys:// alike
//	unix://[user:password@]/path[?db=n]             redis-socket:// and redis+unix:// alike
//	redis-sentinel://[user:password@]h1[:port],h2/master[/db]
//	redis-sentinel://[user:password@]h1,h2?master=name
//	redis-cluster://[user:password@]h1[:port],h2
//
// rediss-sentinel:// and rediss-cluster:// use TLS. User and password are
// percent-encoded; on the network forms they end at the last @, so that one left
// unencoded is still read as meant. With ?master= they are the sentinels' own,
// as in asynq (asynq.go: parseRedisSentinelURI); with /master they are the
// master's, and sentinel_username and sentinel_password name the sentinels'.
//
// Query: db, master, sentinel_username, sentinel_password, tls, tls_server,
// insecure, ca_file, cert_file, key_file, client_name, dial_timeout,
// read_timeout. go-redis's pool options are accepted and ignored.

// mode is how the server is spoken to.
type mode uint8

const (
	modeStandalone mode = iota
	modeSentinel
	modeCluster
)

// target is what Options and its URI come to.
type target struct {
	Options
	mode    mode
	network string   // "tcp" or "unix"
	addrs   []string // host:port each, or one socket path
}

const (
	defaultHost         = "127.0.0.1"
	defaultPort         = "6379"
	defaultSentinelPort = "26379"
)

type scheme struct {
	mode mode
	unix bool
	tls  bool
}

var schemes = map[string]scheme{
	"redis":           {},
	"rediss":          {tls: true},
	"valkey":          {},
	"valkeys":         {tls: true},
	"unix":            {unix: true},
	"redis-unix":      {unix: true},
	"redis-socket":    {unix: true},
	"redis-sentinel":  {mode: modeSentinel},
	"rediss-sentinel": {mode: modeSentinel, tls: true},
	"redis-cluster":   {mode: modeCluster},
	"rediss-cluster":  {mode: modeCluster, tls: true},
}

// parseURI reads the URI alone. Its errors name the part that is wrong and quote
// nothing of it: with an @ forgotten, a password stands where a port is read.
func parseURI(uri string) (target, error) {
	t := target{network: "tcp"}
	uri = strings.TrimSpace(uri)
	name, rest, found := strings.Cut(uri, "://")
	switch {
	case found:
		s, ok := schemes[strings.ReplaceAll(strings.ToLower(name), "+", "-")]
		if !ok {
			return t, errors.New("the scheme is none of redis, rediss, unix, redis-sentinel, redis-cluster")
		}
		t.mode, t.TLS = s.mode, s.tls
		if s.unix {
			t.network = "unix"
		}
	case strings.HasPrefix(uri, "/"):
		t.network, rest = "unix", uri
	default:
		rest = uri
	}
	if err := t.parseRest(rest); err != nil {
		return t, err
	}
	return t, nil
}

func (t *target) parseRest(rest string) error {
	user, rest := cutUser(rest, t.network == "unix")
	rest, query, _ := strings.Cut(rest, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return errors.New("the query cannot be read: write special characters as %XX")
	}
	if err := t.parseUser(user, t.mode == modeSentinel && values.Has("master")); err != nil {
		return err
	}
	if err := t.parseQuery(values); err != nil {
		return err
	}
	if t.network == "unix" {
		return t.parseSocket(rest)
	}
	hosts, path, _ := strings.Cut(rest, "/")
	if err := t.parsePath(strings.TrimSuffix(path, "/")); err != nil {
		return err
	}
	return t.parseHosts(hosts)
}

// cutUser splits off what stands before the @.
func cutUser(s string, socket bool) (user, rest string) {
	i := strings.LastIndexByte(s, '@')
	if socket {
		i = strings.LastIndex(s, "@/")
		if strings.HasPrefix(s, "/") {
			i = -1
		}
	}
	if i < 0 {
		return "", s
	}
	return s[:i], s[i+1:]
}

func (t *target) parseUser(s string, sentinels bool) error {
	name, password, _ := strings.Cut(s, ":")
	name, err := url.PathUnescape(name)
	if err != nil {
		return errors.New("the user name holds a % that starts no %XX: write it as %25")
	}
	password, err = url.PathUnescape(password)
	if err != nil {
		return errors.New("the password holds a % that starts no %XX: write it as %25")
	}
	if sentinels {
		t.SentinelUsername, t.SentinelPassword = name, password
	} else {
		t.Username, t.Password = name, password
	}
	return nil
}

func (t *target) parseSocket(path string) error {
	path, err := url.PathUnescape(path)
	if err != nil {
		return errors.New("the socket's path holds a % that starts no %XX: write it as %25")
	}
	if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return errors.New("the socket's path is not absolute: write unix:///PATH")
	}
	t.addrs = []string{path}
	return nil
}

// parsePath reads /db, or /master/db for sentinels.
func (t *target) parsePath(path string) error {
	if path == "" {
		return nil
	}
	parts := strings.Split(path, "/")
	if t.mode == modeSentinel && t.SentinelMaster == "" {
		master, err := url.PathUnescape(parts[0])
		if err != nil {
			return errors.New("the master's name holds a % that starts no %XX: write it as %25")
		}
		t.SentinelMaster = master
		parts = parts[1:]
	}
	if len(parts) > 1 {
		return errors.New("the path holds more than a database number")
	}
	if len(parts) == 0 {
		return nil
	}
	return t.setDB(parts[0])
}

func (t *target) setDB(s string) error {
	db, err := strconv.Atoi(s)
	if err != nil || db < 0 {
		return errors.New("the database is not a number from 0 on")
	}
	t.DB = db
	return nil
}
