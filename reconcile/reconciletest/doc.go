// Package reconciletest gives tests real PostgreSQL servers, private and in
// temporary directories, and holds the one suite that every reconcile.Ledger
// must pass (Conform).
//
// A test package calls Main from its TestMain; its tests then share one server
// and get a database each from Postgres. The server is started by the first
// test that asks for one. IDEMCTL_TEST_POSTGRES names the directory of the server
// programs where it is not to be the newest version installed.
package reconciletest
