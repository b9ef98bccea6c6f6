// Package config settles what one run of idemctl works with: which Redis, which ledgers, which rules, and
// where each of these values was written.
//
// # Order of precedence
//
// The first place that gives a value wins:
//
//  1. a command-line flag
//  2. the environment variable IDEMCTL_<FLAG> (upper case, "-" as "_"); an empty variable counts as unset
//  3. the chosen context in the configuration file
//  4. for the Redis server REDIS_URL, for the ledger DATABASE_URL
//  5. for the Redis server ~/.asynq.yaml, .yml or .json, the file of the official asynq CLI
//  6. the default
//
// Connection keys of Redis belong to the server they were written for. Once a level has named a server (uri,
// cluster_addrs or sentinel_addrs), the levels below it give nothing more: a password, a database number or a
// TLS name is never carried over to another server. Flags and IDEMCTL_ variables count as one level here, for
// both are the operator's word for this run. A key that is set (db, username, password) beats the same part of
// a uri from its own level or a lower one, and yields to a uri from a higher one.
//
// # Secrets
//
// The uri, the user names, the passwords and the addresses of Redis and the dsn of a ledger may hold ${NAME},
// replaced by that environment variable, anywhere in the value; "$${" writes a literal "${". The uri, a
// password or a dsn may instead be file:PATH, replaced by what that file holds without its last line break. In
// the configuration file and on flags both work; in IDEMCTL_ variables only file: does; REDIS_URL, DATABASE_URL
// and the file of the asynq CLI are taken as they are.
//
// Values that hold secrets are of type [Secret] or [ConnString], which print masked whatever prints them. Of what
// stands in a redis or ledger block, errors and warnings of this package repeat the names of ledgers, variables and
// secret files, and nothing else.
//
// # Errors
//
// Every mistake in a file reads "file:line:column: what was wrong, what was expected". Lines and columns count
// from 1, columns in characters. As many mistakes as possible are reported at once, as [Errors].
//
// The package opens no connection and knows no other package of this module.
package config
