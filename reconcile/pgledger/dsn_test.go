package pgledger_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/pgledger"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

// A password in parts, each of which would betray it.
var secrets = []string{"hunter", "sesame", "p4ssw0rd"}

// hides insists that an error, whatever way it is printed or unwrapped, holds no
// part of the password.
func hides(t *testing.T, what string, err error) {
	t.Helper()
	for e := err; e != nil; e = errors.Unwrap(e) {
		var own *reconcile.LedgerError
		text := fmt.Sprintf("%v %+v %#v", e, e, e)
		if errors.As(e, &own) {
			text += own.Hint + own.Object
		}
		for _, s := range secrets {
			if strings.Contains(text, s) {
				t.Errorf("%s: the error betrays %q: %s", what, s, text)
			}
		}
	}
}

func TestOpenHidesPasswordOfBrokenDSN(t *testing.T) {
	for _, dsn := range []string{
		"postgres://u:hunter/sesame@p4ssw0rd@127.0.0.1/db",
		"postgres://u:hunter@sesame@127.0.0.1:1/db",
		"postgres://u:hunter/sesame@127.0.0.1:1/db",
		"postgres://u:1234/sesame@127.0.0.1:1/db",
		"postgres://u:hunter sesame@127.0.0.1:x/db",
		"postgres://u:hunter%zzsesame@127.0.0.1/db",
		"postgres://u:hunter@127.0.0.1:sesame/db",
		"postgres://u:hunter@127.0.0.1/db?sslmode=sesame",
		"postgres://u@127.0.0.1/db?password=hunter&connect_timeout=sesame",
		"postgresql://u:hunter@[::1/db",
		"host=127.0.0.1 password=hunter sesame",
		"host=127.0.0.1 password='hunter sesame",
		"host=127.0.0.1 port=x password=hunter",
		"hunter sesame",
		"hunter",
		"mysql://u:hunter@127.0.0.1/db",
		"u:hunter@tcp(127.0.0.1:3306)/db",
		"postgres:hunter",
		"https://hunter:sesame@127.0.0.1",
	} {
		_, err := pgledger.Open(context.Background(), pgledger.Options{Name: "main", DSN: dsn})
		hides(t, dsn, err)
		if hint := failsAs(t, err, reconcile.LedgerBadDSN); hint == "" {
			t.Errorf("%s: no hint", dsn)
		}
	}
}

func TestOpenHidesPasswordOfServersThatRefuse(t *testing.T) {
	db := reconciletest.Postgres(t)
	role := db.Role("guest", "right")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	// At a client's own port nobody listens, and nobody else can meanwhile.
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	closedPort := client.LocalAddr().(*net.TCPAddr).Port
	server := fmt.Sprintf("127.0.0.1:%d", db.Port)
	for _, c := range []struct {
		dsn   string
		kind  reconcile.LedgerErrorKind
		words []string
	}{
		{"postgres://" + role + ":p4ssw0rd@" + server + "/" + db.Name, reconcile.LedgerDenied, []string{role, "password", server}},
		{"postgres://" + role + ":p4ssw0rd@" + server + "/" + db.Name + "?sslmode=disable", reconcile.LedgerDenied, []string{role}},
		{"postgres://nobody_knows:p4ssw0rd@" + server + "/" + db.Name, reconcile.LedgerDenied, []string{"nobody_knows"}},
		{"postgres://postgres:p4ssw0rd@" + server + "/no_such_database", reconcile.LedgerMissing, []string{"no_such_database"}},
		{fmt.Sprintf("postgres://u:p4ssw0rd@127.0.0.1:%d/db", closedPort), reconcile.LedgerUnreachable, []string{fmt.Sprint(closedPort)}},
		{fmt.Sprintf("host=127.0.0.1 port=%d user=u password=p4ssw0rd dbname=db", closedPort), reconcile.LedgerUnreachable, []string{"refused"}},
		{"postgres://u:p4ssw0rd@no-such-host.invalid/db", reconcile.LedgerUnreachable, []string{"no-such-host.invalid"}},
		{"host=/no/such/socket user=u password=p4ssw0rd", reconcile.LedgerUnreachable, []string{"/no/such/socket"}},
		{"postgres://postgres:p4ssw0rd@" + server + "/" + db.Name + "?sslmode=require", reconcile.LedgerUnreachable, []string{"TLS"}},
		{"postgres://postgres:p4ssw0rd@" + server + "/" + db.Name + "?schema=public", reconcile.LedgerBadDSN, []string{"schema", "search_path"}},
	} {
		_, err := pgledger.Open(context.Background(), pgledger.Options{Name: "main", DSN: c.dsn})
		hides(t, c.dsn, err)
		failsAs(t, err, c.kind, c.words...)
	}
}

func TestOpenReadsEveryFormOfDSN(t *testing.T) {
	db := reconciletest.Postgres(t)
	role := db.Role("guest", "right/@: %")
	port := fmt.Sprint(db.Port)
	userinfo := url.UserPassword(role, "right/@: %").String()
	passfile := filepath.Join(t.TempDir(), "pgpass")
	if err := os.WriteFile(passfile, []byte("127.0.0.1:"+port+":*:"+role+":right/@\\: %\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dsn string
		env map[string]string
	}{
		{"postgres://" + userinfo + "@127.0.0.1:" + port + "/" + db.Name, nil},
		{"postgresql://" + userinfo + "@127.0.0.1:" + port + "/" + db.Name, nil},
		{"host=127.0.0.1 port=" + port + " dbname=" + db.Name + " user=" + role + " password='right/@: %'", nil},
		{"postgres://" + role + "@127.0.0.1:" + port + "/" + db.Name, map[string]string{"PGPASSWORD": "right/@: %"}},
		{"postgres://" + role + "@127.0.0.1:" + port + "/" + db.Name, map[string]string{"PGPASSFILE": passfile}},
		{"", map[string]string{"PGHOST": "127.0.0.1", "PGPORT": port, "PGDATABASE": db.Name, "PGUSER": role, "PGPASSWORD": "right/@: %"}},
	} {
		t.Run("", func(t *testing.T) {
			for k, v := range c.env {
				t.Setenv(k, v)
			}
			l := open(t, pgledger.Options{DSN: c.dsn})
			f, err := l.Facts(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if f.User != role || f.Server != "127.0.0.1:"+port+"/"+db.Name {
				t.Errorf("DSN form %s: user %s on %s", strings.SplitN(c.dsn, ":", 2)[0], f.User, f.Server)
			}
			if f.Kind != "postgres" || strings.ContainsAny(f.Version, " ()") || f.Version == "" {
				t.Errorf("facts: %+v", f)
			}
		})
	}
}
