package config

import "time"

// The types below are the schema of the configuration file: each yaml tag is a key, and there are no others. They
// serve twice: [Parse] fills them with what the file says, secrets not yet expanded, and [Resolve] with what holds.

// File is a configuration file that was read and checked. The zero File is that of an operator who has none.
type File struct {
	// Path of the file; "" when there is none.
	Path string
	// Warnings are what works and is probably not meant.
	Warnings []Warning

	CurrentContext Setting[string] `yaml:"current_context"`
	Contexts       []Context       `yaml:"contexts"`
}

// Context bundles one Redis with its ledgers and rules.
type Context struct {
	// Source is where the block begins.
	Source Source

	Name    Setting[string] `yaml:"name"`
	Redis   Redis           `yaml:"redis"`
	Ledgers []Ledger        `yaml:"ledgers"`
	// Settle is how long after its end an attempt may still commit. Unset: the larger of 2 minutes and the task's
	// own timeout. Never zero.
	Settle Setting[time.Duration] `yaml:"settle"`
	// ConfirmAfter is how long to wait before an active task whose effect is applied is looked at again. Never
	// zero.
	ConfirmAfter Setting[time.Duration] `yaml:"confirm_after"`
	Policy       Policy                 `yaml:"policy"`
	// Rules in order; the first that matches a task is its rule.
	Rules []Rule `yaml:"rules"`
	// Redact are paths of payload fields that no output shows.
	Redact []Setting[string] `yaml:"redact"`
	// Protected asks for the context's name to be typed before any change.
	Protected Setting[bool] `yaml:"protected"`
	// ReadOnly refuses every change.
	ReadOnly Setting[bool] `yaml:"read_only"`
	Journal  Journal       `yaml:"journal"`
	// Flags are values for command-line flags that have no key of their own, by flag name as written.
	Flags map[string]Setting[[]string] `yaml:"flags"`
}

// Redis says how to reach one Redis. A server is named by one of URI, ClusterAddrs and SentinelAddrs.
type Redis struct {
	// Source is where the block begins.
	Source Source

	// URI is host:port, or redis://, rediss://, redis-sentinel://, redis-cluster:// or unix:// and what follows.
	URI Setting[ConnString] `yaml:"uri"`
	// DB is the database number; it beats the one in URI. Always 0 in a cluster.
	DB Setting[int] `yaml:"db"`
	// Username and Password beat those in URI.
	Username Setting[string] `yaml:"username"`
	Password Setting[Secret] `yaml:"password"`
	// Cluster: URI or ClusterAddrs name nodes of a Redis Cluster.
	Cluster      Setting[bool]     `yaml:"cluster"`
	ClusterAddrs Setting[[]string] `yaml:"cluster_addrs"`
	TLS          Setting[bool]     `yaml:"tls"`
	// TLSServer is the name the certificate must bear; setting it switches TLS on, as in the official asynq CLI.
	TLSServer Setting[string] `yaml:"tls_server"`
	// TLSCA, TLSCert and TLSKey are files in PEM. A relative path in the file starts at the file's directory.
	TLSCA   Setting[string] `yaml:"tls_ca"`
	TLSCert Setting[string] `yaml:"tls_cert"`
	TLSKey  Setting[string] `yaml:"tls_key"`
	// Insecure accepts any certificate.
	Insecure Setting[bool] `yaml:"insecure"`
	// SentinelAddrs are host:port of the sentinels, SentinelMaster the name they watch.
	SentinelAddrs    Setting[[]string] `yaml:"sentinel_addrs"`
	SentinelMaster   Setting[string]   `yaml:"sentinel_master"`
	SentinelUsername Setting[string]   `yaml:"sentinel_username"`
	SentinelPassword Setting[Secret]   `yaml:"sentinel_password"`
}

// UsesTLS reports whether any key asks for TLS. A rediss:// uri asks for it too and is not looked at here.
func (r Redis) UsesTLS() bool {
	return r.TLS.Value || r.TLSServer.Value != "" || r.TLSCA.Value != "" || r.TLSCert.Value != ""
}

// namesServer reports whether the block says which server is meant.
func (r Redis) namesServer() bool {
	return r.URI.IsSet() || r.ClusterAddrs.IsSet() || r.SentinelAddrs.IsSet()
}

// Ledger is one database that holds marks and effects.
type Ledger struct {
	// Source is where the block begins.
	Source Source

	Name Setting[string]     `yaml:"name"`
	DSN  Setting[ConnString] `yaml:"dsn"`
}

// Policy is how the workers retry. Keys that a rule leaves out are those of its context.
type Policy struct {
	// Retry is the policy as written, such as "default" or "fixed(60s)"; it is parsed elsewhere. Never empty.
	Retry Setting[string] `yaml:"retry"`
	// MaxRetry is asynq's MaxRetry, zero or more.
	MaxRetry Setting[int] `yaml:"max_retry"`
	// Timeout is asynq's Timeout; zero means what it means to asynq (30 minutes).
	Timeout Setting[time.Duration] `yaml:"timeout"`
	// QueueWait is the longest a task waits in pending for a free worker.
	QueueWait Setting[time.Duration] `yaml:"queue_wait"`
}

// Rule says how tasks map to a key and to rows.
type Rule struct {
	// Source is where the block begins.
	Source Source

	Match Match          `yaml:"match"`
	Class Setting[Class] `yaml:"class"`
	// Key is an expression over the task, parsed elsewhere. Never empty.
	Key    Setting[string] `yaml:"key"`
	Mark   *Table          `yaml:"mark"`
	Effect *Table          `yaml:"effect"`
	Inbox  *Table          `yaml:"inbox"`
	Policy Policy          `yaml:"policy"`
	Unique *Unique         `yaml:"unique"`
	// Ignore are finding codes that are not reported, such as "lock/cross-queue".
	Ignore       []Setting[string]      `yaml:"ignore"`
	Settle       Setting[time.Duration] `yaml:"settle"`
	ConfirmAfter Setting[time.Duration] `yaml:"confirm_after"`
	// Atomic: mark and effect are written in one transaction. False: absence proves nothing.
	Atomic Setting[bool] `yaml:"atomic"`
	// MaxEffects is how many effect rows of one key are right, one or more.
	MaxEffects  Setting[int] `yaml:"max_effects"`
	Fingerprint *Fingerprint `yaml:"fingerprint"`
}

// Match selects tasks by glob. An unset pattern matches everything.
type Match struct {
	Type  Setting[string] `yaml:"type"`
	Queue Setting[string] `yaml:"queue"`
}

// Table is one source of a rule: the table and column where its key is looked up.
type Table struct {
	// Source is where the block begins.
	Source Source

	// Ledger is the name of one; unset in a file it means the only one.
	Ledger Setting[string] `yaml:"ledger"`
	// Table and Column are SQL identifiers, the table perhaps with a schema.
	Table  Setting[string] `yaml:"table"`
	Column Setting[string] `yaml:"column"`
	// At is the column that says when the row was written.
	At Setting[string] `yaml:"at"`
	// When is an SQL condition; a row that fails it is work in progress.
	When      Setting[string]    `yaml:"when"`
	Retention Setting[Retention] `yaml:"retention"`
	// ClaimedAt is the column that says when the row was claimed; unset means At.
	ClaimedAt Setting[string] `yaml:"claimed_at"`
}

// Unique is how the code uses asynq.Unique.
type Unique struct {
	// TTL is the lock's, one second or more (asynq refuses less: client.go, composeOptions).
	TTL Setting[time.Duration] `yaml:"ttl"`
	// Period is how soon equal work may legally come again.
	Period Setting[time.Duration] `yaml:"period"`
}

// Fingerprint is a hash of the raw payload that a source stores.
type Fingerprint struct {
	// Source is where the block begins.
	Source Source

	// Role is the source that holds it, one the rule has.
	Role   Setting[Role]   `yaml:"source"`
	Column Setting[string] `yaml:"column"`
	Hash   Setting[Hash]   `yaml:"hash"`
}

// Journal is where changes are recorded.
type Journal struct {
	// File is the append-only file. A relative path in the configuration starts at its directory.
	File Setting[string] `yaml:"file"`
	// Ledger and Table take a copy of the records; both or neither are set.
	Ledger Setting[string] `yaml:"ledger"`
	Table  Setting[string] `yaml:"table"`
	// Redact hides payloads before they are written: the paths that no output
	// shows, or all of each payload where there are none.
	Redact Setting[bool] `yaml:"redact"`
}

// tables gives the sources a rule has, in the order mark, effect, inbox.
func (r *Rule) tables() map[Role]*Table {
	all := map[Role]*Table{}
	for role, table := range map[Role]*Table{RoleMark: r.Mark, RoleEffect: r.Effect, RoleInbox: r.Inbox} {
		if table != nil {
			all[role] = table
		}
	}
	return all
}
