package config

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"pgregory.net/rapid"
)

func TestMaskShowsWhatIsHarmlessAndHidesPasswords(t *testing.T) {
	for conn, want := range map[string]string{
		"":                                  "",
		"127.0.0.1:6379":                    "127.0.0.1:6379",
		":6379":                             ":6379",
		"[::1]:6379":                        "[::1]:6379",
		"redis://localhost:6379/0":          "redis://localhost:6379/0",
		"redis://:hunter2@localhost:6379/0": "redis://:xxxxx@localhost:6379/0",
		"rediss://op:hunter2@h:6380/2?dial_timeout=3s": "rediss://op:xxxxx@h:6380/2?dial_timeout=3s",
		"redis://op:@h:1":                                  "redis://op:@h:1",
		"redis://hunter2@h:1":                              "redis://xxxxx@h:1",
		"redis://:a:b@h:1":                                 "redis://:xxxxx@h:1",
		"redis://:a@b@h:1":                                 "redis://:xxxxx@h:1",
		"redis-sentinel://:hunter2@a:1,b:2?master=m":       "redis-sentinel://:xxxxx@a:1,b:2?master=m",
		"redis-cluster://:hunter2@a:1,b:2":                 "redis-cluster://:xxxxx@a:1,b:2",
		"unix:///run/redis.sock?db=3":                      "unix:///run/redis.sock?db=3",
		"unix://:hunter2@/run/redis.sock":                  "unix://:xxxxx@/run/redis.sock",
		"postgres://op@h/db":                               "postgres://op@h/db",
		"postgres://op:hunter2@h:5432/db?sslmode=require":  "postgres://op:xxxxx@h:5432/db?sslmode=require",
		"postgres://op:hunter2@a:1,b:2/db":                 "postgres://op:xxxxx@a:1,b:2/db",
		"postgres://op:hunter2@[::1]:5432/db":              "postgres://op:xxxxx@[::1]:5432/db",
		"postgres:///db?host=/var/run/postgresql":          "postgres:///db?host=/var/run/postgresql",
		"postgres://h/db?password=hunter2&sslmode=require": "postgres://h/db?password=xxxxx&sslmode=require",
		"postgres://h/db?sslpassword=hunter2":              "postgres://h/db?sslpassword=xxxxx",
		"postgres://h/db?pass%77ord=hunter2":               "postgres://h/db?pass%77ord=xxxxx",
		"postgres://h/db?password=hunter&2=x":              "postgres://h/db?password=xxxxx&xxxxx",
		"postgres://h/db?options=-c%20password%3Dhunter2":  "postgres://h/db?options=xxxxx",
		"sqlite:/var/lib/app.db":                           "sqlite:/var/lib/app.db",
		"sqlite:app.db?_pragma=busy_timeout(5000)":         "sqlite:app.db?_pragma=busy_timeout(5000)",
		"sqlite:app.db?_auth_pass=hunter2":                 "sqlite:app.db?_auth_pass=xxxxx",
		"host=db user=op password=hunter2 dbname=app":      "host=db user=op password=xxxxx dbname=app",
		`host=db password='hun ter\'2' dbname=app`:         "host=db password=xxxxx dbname=app",
		"host = db  password = hunter2":                    "host=db password=xxxxx",
		"host=db sslpassword=hunter2":                      "host=db sslpassword=xxxxx",
		// Nothing is shown of what could be read in two ways.
		"redis://:hun/ter2@h:1":              "redis://xxxxx",
		"redis://:hun?ter2@h:1":              "redis://xxxxx",
		"redis://:hun#ter2@h/0":              "redis://:xxxxx@h/0",
		"redis://op:hunter2":                 "redis://xxxxx",
		"redis://op:hunter2/0":               "redis://xxxxx",
		"postgres://op:hunter2@h:port/db":    "postgres://xxxxx",
		"postgres://op:hunter2@h/db?a=b@c":   "postgres://xxxxx",
		"postgres://op:hunter2@h/db\n":       "postgres://xxxxx",
		"postgres:hunter2":                   "postgres:xxxxx",
		"mysql://op:hunter2@tcp(h:3306)/db":  "mysql://xxxxx",
		"mongodb://op:hunter2@h/db":          "mongodb://xxxxx",
		"op:hunter2@tcp(h:3306)/db":          "xxxxx",
		"hunter2":                            "xxxxx",
		"hunter2:more":                       "xxxxx",
		"host=db password=hun ter2 dbname=x": "xxxxx",
		"host=db password='hunter2":          "xxxxx",
		"mypassword=hunter2":                 "xxxxx",
		"redis://:${PASSWORD}@h:1":           "redis://:xxxxx@h:1",
		"redis://:\ue000@h:1":                "xxxxx",
	} {
		if got := Mask(conn); got != want {
			t.Errorf("Mask(%q)\n got %q\nwant %q", conn, got, want)
		}
	}
}

func TestViewKeepsReferencesAndMasksWhatStandsBesideThem(t *testing.T) {
	for conn, want := range map[string]string{
		"redis://:${PASSWORD}@h:1":                     "redis://:${PASSWORD}@h:1",
		"postgres://${USER}:${PASSWORD}@${HOST}/${DB}": "postgres://${USER}:${PASSWORD}@${HOST}/${DB}",
		"redis://:hunter${TWO}@h:1":                    "redis://:xxxxx@h:1",
		"redis://:$${TWO}@h:1":                         "redis://:xxxxx@h:1",
		"postgres://h/db?password=${PASSWORD}":         "postgres://h/db?password=${PASSWORD}",
		"host=h password=${PASSWORD}":                  "host=h password=${PASSWORD}",
		"${DATABASE_URL}":                              "${DATABASE_URL}",
		"${DATABASE_URL}?password=hunter2":             "xxxxx",
		"redis://:hunter2@${HOST}:${PORT}/0":           "redis://:xxxxx@${HOST}:${PORT}/0",
	} {
		if got, _ := maskReferences(conn); got != want {
			t.Errorf("maskReferences(%q)\n got %q\nwant %q", conn, got, want)
		}
	}
}

// secrets draws passwords that no part of a connection string happens to contain.
func secrets() *rapid.Generator[string] {
	raw := rapid.StringOfN(rapid.RuneFrom([]rune("aZ09 :/?#@&=%+\\'\"${}[]!,;.-_~é漢\u202e\t")), 1, 24, -1)
	return rapid.Map(raw, func(text string) string { return "Qx" + text + "xQ" })
}

// connections draws connection strings that hold a secret, many of them malformed: the secret is escaped or not.
func connections(secret string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		form := rapid.SampledFrom([]string{
			"redis://:%s@h:6379/0", "redis://op:%s@h", "rediss://%s@h:1", "redis-sentinel://:%s@a:1,b:2?master=m",
			"redis://:%s", "redis://op:%s/0", "unix://:%s@/run/r.sock?db=1",
			"postgres://op:%s@h/db?sslmode=require", "postgres://op:%s@a:1,b:2/db", "postgres://h/db?password=%s",
			"postgres://h/db?sslpassword=%s&application_name=x", "postgresql://op:%s@[::1]/db", "postgres:%s",
			"mysql://op:%s@tcp(h)/db", "op:%s@tcp(h)/db", "sqlite:x.db?_auth_pass=%s", "amqp://op:%s@h",
			"host=h password=%s dbname=d", "host=h password='%s' dbname=d", "password = %s", "%s", "%s@h:1", "op:%s@h:1",
		}).Draw(t, "form")
		escape := rapid.SampledFrom([]func(string) string{
			func(s string) string { return s },
			url.QueryEscape, url.PathEscape,
			func(s string) string { return strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) },
		}).Draw(t, "escape")
		written := escape(secret)
		if form == "rediss://%s@h:1" {
			// A raw colon here ends a user name, which is no secret.
			written = strings.ReplaceAll(written, ":", "%3A")
		}
		if strings.HasPrefix(form, "redis://") && !strings.Contains(form, "@") {
			// A raw "@" here ends a password, and what follows is a host.
			written = strings.ReplaceAll(written, "@", "%40")
		}
		return fmt.Sprintf(form, written)
	})
}

// leaks reports whether output shows the secret, or its beginning or end, which a bad cut would leave.
func leaks(output, secret string) bool {
	for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret)} {
		if strings.Contains(output, form) {
			return true
		}
	}
	return strings.Contains(output, "Qx") || strings.Contains(output, "xQ")
}

func TestMaskNeverShowsASecret(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := secrets().Draw(t, "secret")
		conn := connections(secret).Draw(t, "conn")
		if got := Mask(conn); leaks(got, secret) {
			t.Fatalf("Mask(%q) = %q", conn, got)
		}
		if got, _ := maskReferences(conn); leaks(got, secret) {
			t.Fatalf("maskReferences(%q) = %q", conn, got)
		}
	})
}

// TestMaskTouchesNothingThatHoldsNoSecret keeps Mask from being safe by hiding all.
func TestMaskTouchesNothingThatHoldsNoSecret(t *testing.T) {
	host := rapid.StringMatching(`[a-z][a-z0-9.-]{0,12}(:[0-9]{1,5})?`)
	rapid.Check(t, func(t *rapid.T) {
		conn := fmt.Sprintf("%s://%s/%d", rapid.SampledFrom([]string{"redis", "rediss", "postgres"}).Draw(t, "scheme"),
			host.Draw(t, "host"), rapid.IntRange(0, 15).Draw(t, "db"))
		if got := Mask(conn); got != conn {
			t.Fatalf("Mask(%q) = %q", conn, got)
		}
	})
}

// printed is everything that a careless line of code could do to print a value.
func printed(t interface{ Fatalf(string, ...any) }, value any) string {
	var out bytes.Buffer
	for _, verb := range strings.Split("v +v #v s q x X d o b e f g c U t p T 10s -10q +q #q 08x", " ") {
		fmt.Fprintf(&out, "%"+verb+"\n", value)
	}
	fmt.Fprintln(&out, value)
	for _, encode := range []func(any) ([]byte, error){json.Marshal, yaml.Marshal, xml.Marshal} {
		text, err := encode(value)
		if err != nil {
			t.Fatalf("encode %T: %v", value, err)
		}
		out.Write(text)
	}
	for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(handler).Info("x", "value", value)
	}
	return out.String()
}

func TestSecretsArePrintedMaskedWhateverPrintsThem(t *testing.T) {
	type block struct {
		Secret Secret
		Conn   ConnString
		hidden Secret
		conn   ConnString
	}
	rapid.Check(t, func(t *rapid.T) {
		secret := secrets().Draw(t, "secret")
		conn := connections(secret).Draw(t, "conn")
		values := []any{
			NewSecret(secret), NewConnString(conn),
			block{NewSecret(secret), NewConnString(conn), NewSecret(secret), NewConnString(conn)},
			&block{NewSecret(secret), NewConnString(conn), NewSecret(secret), NewConnString(conn)},
			Setting[Secret]{Value: NewSecret(secret)},
			[]Setting[ConnString]{{Value: NewConnString(conn)}},
			Redis{URI: Setting[ConnString]{Value: NewConnString(conn)}, Password: Setting[Secret]{Value: NewSecret(secret)}},
		}
		for _, value := range values {
			out := printed(t, value)
			hex := fmt.Sprintf("%x", secret)
			if leaks(out, secret) || strings.Contains(out, hex) || strings.Contains(out, strings.ToUpper(hex)) {
				t.Fatalf("%T shows %q:\n%s", value, secret, out)
			}
		}
		if got := NewSecret(secret).Reveal(); got != secret {
			t.Fatalf("Reveal gives %q", got)
		}
	})
}

func TestEmptySecretPrintsAsNothing(t *testing.T) {
	if got := fmt.Sprint(Secret{}, ConnString{}) + NewSecret("").String(); got != " " && got != "" {
		t.Errorf("got %q", got)
	}
}
