package inspect

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestURIForms(t *testing.T) {
	type want struct {
		mode    mode
		network string
		addrs   string
		user    string
		pass    string
		db      int
		tls     bool
	}
	tcp := func(addr string) want { return want{network: "tcp", addrs: addr} }
	with := func(w want, edit func(*want)) want { edit(&w); return w }
	cases := map[string]want{
		"":                             tcp("127.0.0.1:6379"),
		"localhost":                    tcp("localhost:6379"),
		"h:7000":                       tcp("h:7000"),
		":7000":                        tcp("127.0.0.1:7000"),
		" h:7000\n":                    tcp("h:7000"),
		"::1":                          tcp("[::1]:6379"),
		"[::1]":                        tcp("[::1]:6379"),
		"[::1]:7000":                   tcp("[::1]:7000"),
		"fe80::1%eth0":                 tcp("[fe80::1%eth0]:6379"),
		"redis://":                     tcp("127.0.0.1:6379"),
		"redis://h":                    tcp("h:6379"),
		"REDIS://h/":                   tcp("h:6379"),
		"valkey://h":                   tcp("h:6379"),
		"redis://[2001:db8::1]:7000/3": with(tcp("[2001:db8::1]:7000"), func(w *want) { w.db = 3 }),
		"redis:///3":                   with(tcp("127.0.0.1:6379"), func(w *want) { w.db = 3 }),
		"redis://h?db=4":               with(tcp("h:6379"), func(w *want) { w.db = 4 }),
		"redis://h?tls=true":           with(tcp("h:6379"), func(w *want) { w.tls = true }),
		"redis://h?pool_size=9":        tcp("h:6379"),
		"rediss://h":                   with(tcp("h:6379"), func(w *want) { w.tls = true }),
		"valkeys://h":                  with(tcp("h:6379"), func(w *want) { w.tls = true }),
		"redis://u:p@h":                with(tcp("h:6379"), func(w *want) { w.user, w.pass = "u", "p" }),
		"redis://u@h":                  with(tcp("h:6379"), func(w *want) { w.user = "u" }),
		"redis://:p@h":                 with(tcp("h:6379"), func(w *want) { w.pass = "p" }),
		"u:p@h:7000":                   with(tcp("h:7000"), func(w *want) { w.user, w.pass = "u", "p" }),
		"redis://u%3a:p%40%2f%3F%25@h": with(tcp("h:6379"), func(w *want) { w.user, w.pass = "u:", "p@/?%" }),
		"redis://u:p@/?#:+ é@h/1":      with(tcp("h:6379"), func(w *want) { w.user, w.pass, w.db = "u", "p@/?#:+ é", 1 }),
		"/run/r.sock":                  {network: "unix", addrs: "/run/r.sock"},
		"unix:///run/r.sock?db=1":      {network: "unix", addrs: "/run/r.sock", db: 1},
		"redis+unix:///r%20.sock":      {network: "unix", addrs: "/r .sock"},
		"redis-socket://:p@/r@x.sock":  {network: "unix", addrs: "/r@x.sock", pass: "p"},
		"unix://u:p@/r.sock":           {network: "unix", addrs: "/r.sock", user: "u", pass: "p"},

		"redis-cluster://u:p@a:7000,b:7001": {mode: modeCluster, network: "tcp", addrs: "a:7000 b:7001", user: "u", pass: "p"},
		"rediss+cluster://a,[::1]:7":        {mode: modeCluster, network: "tcp", addrs: "a:6379 [::1]:7", tls: true},
		"redis-cluster://a/0":               {mode: modeCluster, network: "tcp", addrs: "a:6379"},

		"redis-sentinel://:p@a:1,b/mymaster?db=2": {mode: modeSentinel, network: "tcp", addrs: "a:1 b:26379", pass: "p", db: 2},
		"rediss-sentinel://a/mymaster/3":          {mode: modeSentinel, network: "tcp", addrs: "a:26379", db: 3, tls: true},
		"redis-sentinel://:p@a,b?master=mymaster": {mode: modeSentinel, network: "tcp", addrs: "a:26379 b:26379"},
		"redis-sentinel://a/4?master=mymaster":    {mode: modeSentinel, network: "tcp", addrs: "a:26379", db: 4},
	}
	for uri, w := range cases {
		got, err := Options{URI: uri}.resolve()
		if err != nil {
			t.Errorf("%q: %v", uri, err)
			continue
		}
		g := want{got.mode, got.network, strings.Join(got.addrs, " "), got.Username, got.Password, got.DB, got.TLS}
		if g != w {
			t.Errorf("%q:\n got %+v\nwant %+v", uri, g, w)
		}
		if w.mode == modeSentinel && got.SentinelMaster != "mymaster" {
			t.Errorf("%q: master %q", uri, got.SentinelMaster)
		}
	}
}

func TestURIKeepsSentinelsPasswordApart(t *testing.T) {
	for uri, want := range map[string][4]string{
		"redis-sentinel://u:p@a?master=m":                                       {"", "", "u", "p"},
		"redis-sentinel://u:p@a/m":                                              {"u", "p", "", ""},
		"redis-sentinel://u:p@a/m?sentinel_username=s&sentinel_password=%26%40": {"u", "p", "s", "&@"},
	} {
		got, err := Options{URI: uri}.resolve()
		if g := [4]string{got.Username, got.Password, got.SentinelUsername, got.SentinelPassword}; err != nil || g != want {
			t.Errorf("%q: %q, error %v; want %q", uri, g, err, want)
		}
	}
}

func TestURIRefusesWhatItCannotMean(t *testing.T) {
	for uri, part := range map[string]string{
		"http://h":                    "scheme",
		"redis://h:0":                 "port",
		"redis://h:65536":             "port",
		"redis://h:six":               "port",
		"redis://a:b:c":               "host",
		"redis://h h":                 "host",
		"redis://[::1":                "brackets",
		"redis://[h]":                 "brackets",
		"redis://h/one":               "database",
		"redis://h/-1":                "database",
		"redis://h/1/2":               "path",
		"redis://h?tls=maybe":         "tls",
		"redis://h?unheard=1":         "unknown parameter",
		"redis://h?dial_timeout=soon": "dial_timeout",
		"redis://h?a=%zz":             "query",
		"redis://u:%zz@h":             "password",
		"redis://%zz:p@h":             "user",
		"redis://a,b":                 "--cluster",
		"redis-cluster://a/1":         "database 0",
		"redis-cluster://a,b:x":       "address 2 of 2",
		"redis-sentinel://a":          "master",
		"redis://a?master=m":          "sentinel",
		"unix://relative":             "socket",
		"unix://":                     "socket",
	} {
		_, err := Options{URI: uri}.resolve()
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: error %v does not name the %s", uri, err, part)
		}
	}
}

func TestFieldsOutrankTheURI(t *testing.T) {
	o := Options{
		URI:      "redis://u:p@h/1?dial_timeout=1s&read_timeout=2&client_name=x",
		Username: "U", Password: "P", DB: 2, DialTimeout: time.Minute, TLSServer: "s",
	}
	got, err := o.resolve()
	if err != nil {
		t.Fatal(err)
	}
	if got.Username != "U" || got.Password != "P" || got.DB != 2 || got.DialTimeout != time.Minute || !got.TLS {
		t.Errorf("fields did not outrank the URI: %+v", got)
	}
	if got.ReadTimeout != 2*time.Second || got.ClientName != "x" {
		t.Errorf("the URI's own are lost: %+v", got)
	}
}

func TestClusterAddrsReplaceTheHosts(t *testing.T) {
	got, err := Options{URI: "redis://u:p@h", ClusterAddrs: []string{"a:1", "b"}}.resolve()
	if err != nil || got.mode != modeCluster || !slices.Equal(got.addrs, []string{"a:1", "b:6379"}) || got.Password != "p" {
		t.Errorf("%+v, error %v", got, err)
	}
}

func TestOptionsThatExcludeEachOther(t *testing.T) {
	for name, o := range map[string]Options{
		"sentinel URI and cluster": {URI: "redis-sentinel://a/m", Cluster: true},
		"cluster and master":       {Cluster: true, SentinelMaster: "m"},
		"socket and cluster":       {URI: "/s", Cluster: true},
		"cluster and database":     {Cluster: true, DB: 1},
		"certificate without key":  {CertFile: "c"},
		"negative database":        {DB: -1},
		"negative timeout":         {ReadTimeout: -1},
	} {
		if o.Validate() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// FuzzURI: no input panics; no error and no address holds a password, however
// it is encoded; an address that is accepted can be dialled.
func FuzzURI(f *testing.F) {
	for _, uri := range []string{
		"", "h:1", "redis://u:p@h:1/2", "unix:///s?db=1", "redis-sentinel://:p@h/m", "redis-cluster://a,b",
		"redis://[::1]:1", "rediss://h?tls_server=x&insecure=1", "u:p@h", "redis://u:p",
	} {
		f.Add(uri, "pass/w@rd?")
	}
	f.Fuzz(func(t *testing.T, uri, password string) {
		if target, err := (Options{URI: uri}).resolve(); err == nil && len(target.addrs) == 0 {
			t.Errorf("%q leads nowhere", uri)
		}
		const mark = "s3cr3t"
		for _, p := range []string{mark + password, password + mark, password + mark + password} {
			for _, written := range []string{p, url.PathEscape(p), url.QueryEscape(p)} {
				fuzzPassword(t, mark, written)
			}
		}
	})
}

func fuzzPassword(t *testing.T, mark, written string) {
	for _, uri := range []string{
		"redis://user:" + written + "@host:6379/1", "user:" + written + "@host", "redis://:" + written + "@host:bad",
		"redis-sentinel://:" + written + "@a,b/m", "redis-cluster://u:" + written + "@a", "redis://user:" + strings.ReplaceAll(written, "@", ""),
		"unix://:" + written + "@/run/s", "redis://h?sentinel_password=" + url.QueryEscape(written),
	} {
		o := Options{URI: uri}
		if err := o.Validate(); err != nil && strings.Contains(err.Error(), mark) {
			t.Errorf("error for %q holds the password: %v", uri, err)
		}
		if strings.Contains(o.Address(), mark) {
			t.Errorf("address for %q holds the password: %s", uri, o.Address())
		}
	}
}
