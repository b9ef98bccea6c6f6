package inspect

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"
)

// ignoredQuery names the query parameters that other clients read and that
// change nothing here.
var ignoredQuery = map[string]bool{
	"protocol": true, "max_retries": true, "min_retry_backoff": true, "max_retry_backoff": true,
	"write_timeout": true, "pool_fifo": true, "pool_size": true, "pool_timeout": true,
	"min_idle_conns": true, "max_idle_conns": true, "max_active_conns": true,
	"conn_max_idle_time": true, "conn_max_lifetime": true, "max_redirects": true,
}

func (t *target) parseQuery(values url.Values) error {
	for name, list := range values {
		if ignoredQuery[name] {
			continue
		}
		if err := t.setQuery(name, list[len(list)-1]); err != nil {
			return err
		}
	}
	return nil
}

func (t *target) setQuery(name, value string) (err error) {
	switch name {
	case "db":
		return t.setDB(value)
	case "master":
		t.SentinelMaster = value
	case "sentinel_username":
		t.SentinelUsername = value
	case "sentinel_password":
		t.SentinelPassword = value
	case "tls":
		t.TLS, err = queryBool(name, value)
	case "insecure":
		t.Insecure, err = queryBool(name, value)
	case "tls_server":
		t.TLSServer = value
	case "ca_file":
		t.CAFile = value
	case "cert_file":
		t.CertFile = value
	case "key_file":
		t.KeyFile = value
	case "client_name":
		t.ClientName = value
	case "dial_timeout":
		t.DialTimeout, err = queryDuration(name, value)
	case "read_timeout":
		t.ReadTimeout, err = queryDuration(name, value)
	default:
		return errors.New("the query holds an unknown parameter (known: db, master, sentinel_username, sentinel_password, " +
			"tls, tls_server, insecure, ca_file, cert_file, key_file, client_name, dial_timeout, read_timeout)")
	}
	return err
}

func queryBool(name, value string) (bool, error) {
	b, err := strconv.ParseBool(value)
	if err != nil {
		return false, fmt.Errorf("the query parameter %s is neither true nor false", name)
	}
	return b, nil
}

// queryDuration reads 500ms or, as go-redis does, a bare number of seconds.
func queryDuration(name, value string) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if err != nil {
		d, err = time.ParseDuration(value + "s")
	}
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("the query parameter %s is not a duration such as 5s", name)
	}
	return d, nil
}
