package reconciletest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Database is a PostgreSQL database that belongs to one test.
type Database struct {
	DSN  string // as superuser
	Name string
	Host string
	Port int

	t    testing.TB
	mu   *sync.Mutex
	conn *pgx.Conn // opened by the first statement
}

// shared is the server that the tests of one binary have in common.
var shared struct {
	sync.Mutex
	on      bool // Main is running
	cluster *cluster
	err     error // why it could not be started
	made    int   // databases made so far
}

// Main runs the tests of a package and stops the shared server after them.
// Use it as the whole of TestMain:
//
//	func TestMain(m *testing.M) { reconciletest.Main(m) }
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run is Main for a TestMain that has more to do: it returns the exit code.
func Run(m interface{ Run() int }) int {
	shared.Lock()
	shared.on = true
	shared.Unlock()
	defer stopShared()
	return m.Run()
}

func stopShared() {
	shared.Lock()
	defer shared.Unlock()
	if shared.cluster != nil {
		shared.cluster.proc.stop()
	}
	shared.cluster, shared.err, shared.on = nil, nil, false
}

// Postgres gives the test an empty database of its own on the shared server.
// The database is dropped after the test. The test fails where PostgreSQL is not
// installed.
func Postgres(t testing.TB) *Database {
	t.Helper()
	c, name, err := borrow()
	if err != nil {
		t.Fatalf("starting PostgreSQL: %v", err)
	}
	admin := c.database(t, "postgres")
	admin.Exec("CREATE DATABASE " + name + " TEMPLATE template0")
	t.Cleanup(func() { admin.drop(name) })
	return c.database(t, name)
}

// drop drops a database. The server waits some seconds for the sessions that it
// ends, and gives up.
func (db *Database) drop(name string) {
	db.t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		db.mu.Lock()
		_, err := db.connected().Exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)")
		db.mu.Unlock()
		var refusal *pgconn.PgError
		switch {
		case err == nil:
			return
		case !errors.As(err, &refusal) || refusal.Code != "55006" || time.Now().After(end): // object_in_use
			db.t.Fatalf("dropping database %s: %v", name, err)
		}
	}
}

// borrow starts the shared server where it does not run yet, and names a new
// database.
func borrow() (*cluster, string, error) {
	shared.Lock()
	defer shared.Unlock()
	if !shared.on {
		return nil, "", fmt.Errorf("no TestMain calls reconciletest.Main")
	}
	if shared.cluster == nil && shared.err == nil {
		shared.cluster, shared.err = startShared()
	}
	shared.made++
	return shared.cluster, "t" + strconv.Itoa(shared.made), shared.err
}

func startShared() (*cluster, error) {
	c, err := startCluster()
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, c.dsn(superuser, "postgres"))
	if err == nil {
		_, err = conn.Exec(ctx, "CREATE ROLE "+passwordRole+" NOLOGIN")
		_ = conn.Close(ctx)
	}
	if err != nil {
		c.proc.stop()
		return nil, err
	}
	return c, nil
}

func (c *cluster) database(t testing.TB, name string) *Database {
	db := &Database{DSN: c.dsn(superuser, name), Name: name, Host: "127.0.0.1", Port: c.port, t: t, mu: &sync.Mutex{}}
	t.Cleanup(func() {
		if db.conn != nil {
			_ = db.conn.Close(context.Background())
		}
	})
	return db
}

// As is the DSN of another role without a password.
func (db *Database) As(role string) string {
	return strings.Replace(db.DSN, "//"+superuser+"@", "//"+role+"@", 1)
}

// Role makes a role that can log in, named after the database, and drops it with
// what it owns and was granted after the test. With a password the role must
// give it.
func (db *Database) Role(suffix, password string) string {
	db.t.Helper()
	name := db.Name + "_" + suffix
	db.Exec("CREATE ROLE " + name + " LOGIN")
	if password != "" {
		db.Exec("ALTER ROLE " + name + " PASSWORD '" + password + "'")
		db.Exec("GRANT " + passwordRole + " TO " + name)
	}
	db.t.Cleanup(func() {
		db.Exec("DROP OWNED BY " + name)
		db.Exec("DROP ROLE " + name)
	})
	return name
}

// Exec runs statements and fails the test when one fails. With arguments it runs
// one statement. It may be called from several goroutines.
func (db *Database) Exec(sql string, args ...any) {
	db.t.Helper()
	db.mu.Lock()
	defer db.mu.Unlock()
	if _, err := db.connected().Exec(context.Background(), sql, args...); err != nil {
		db.t.Fatalf("%s: %v", sql, err)
	}
}

// Value is the first column of a query's only row, as text.
func (db *Database) Value(sql string, args ...any) string {
	db.t.Helper()
	db.mu.Lock()
	defer db.mu.Unlock()
	var v string
	if err := db.connected().QueryRow(context.Background(), "SELECT ("+sql+")::text", args...).Scan(&v); err != nil {
		db.t.Fatalf("%s: %v", sql, err)
	}
	return v
}

func (db *Database) connected() *pgx.Conn {
	db.t.Helper()
	if db.conn == nil || db.conn.IsClosed() {
		db.conn = db.connect()
	}
	return db.conn
}

func (db *Database) connect() *pgx.Conn {
	db.t.Helper()
	conn, err := pgx.Connect(context.Background(), db.DSN)
	if err != nil {
		db.t.Fatal(err)
	}
	return conn
}

// Session is one connection of a test, such as a worker's open transaction.
type Session struct {
	conn *pgx.Conn
	t    testing.TB
}

// Session opens a connection, closed with the test.
func (db *Database) Session() *Session {
	db.t.Helper()
	s := &Session{conn: db.connect(), t: db.t}
	db.t.Cleanup(s.Close)
	return s
}

// Exec runs statements and fails the test when one fails.
func (s *Session) Exec(sql string, args ...any) {
	s.t.Helper()
	if _, err := s.conn.Exec(context.Background(), sql, args...); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
}

// Close ends the connection, and with it an open transaction. It may be called
// again.
func (s *Session) Close() { _ = s.conn.Close(context.Background()) }

// Sibling is another database of the same server. The caller makes and drops it.
func (db *Database) Sibling(name string) *Database {
	return (&cluster{port: db.Port}).database(db.t, name)
}

// ExecFails runs a statement that must fail.
func (db *Database) ExecFails(sql string) {
	db.t.Helper()
	db.mu.Lock()
	defer db.mu.Unlock()
	if _, err := db.connected().Exec(context.Background(), sql); err == nil {
		db.t.Fatalf("%s: no error", sql)
	}
}

// Cluster starts a server that belongs to the test alone, stopped with it, and
// returns its database postgres.
func Cluster(t testing.TB) *Database {
	t.Helper()
	c, err := startCluster()
	if err != nil {
		t.Fatalf("starting PostgreSQL: %v", err)
	}
	t.Cleanup(c.proc.stop)
	return c.database(t, "postgres")
}
