package inspect

import "time"

// Options says how to connect. The zero value is 127.0.0.1:6379, database 0.
//
// URI takes what asynq's command line takes (host:port) and every URL form that
// ParseURI documents. A field that is set outranks the same fact in the URI.
type Options struct {
	URI string

	Username string
	Password string
	DB       int // ignored by Redis Cluster, which has database 0 only

	// Cluster speaks the cluster protocol to ClusterAddrs (host:port each), or
	// to the URI's hosts when there are none.
	Cluster      bool
	ClusterAddrs []string

	// SentinelMaster names the master that the sentinels at the URI's hosts
	// watch. "" means no sentinel. The sentinels' own user and password differ
	// from the master's.
	SentinelMaster   string
	SentinelUsername string
	SentinelPassword string

	// TLS turns TLS on; a rediss scheme, TLSServer, CAFile and CertFile do so too.
	TLS       bool
	TLSServer string // expected server name; "": the host that is dialled
	Insecure  bool   // accept any certificate
	CAFile    string // PEM; "": the system's roots
	CertFile  string // PEM client certificate, with KeyFile
	KeyFile   string

	DialTimeout time.Duration // 0: 3 s
	ReadTimeout time.Duration // 0: 10 s; also bounds one write

	// ClientName is what CLIENT LIST shows; "": idemctl. A server that refuses
	// to set it is used all the same.
	ClientName string

	// Rate is the most tasks a second that a listing reads; 0: no bound.
	Rate float64
}
