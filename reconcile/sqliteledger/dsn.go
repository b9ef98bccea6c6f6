package sqliteledger

import (
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/idemctl/idemctl/reconcile"
)

const formsOfDSN = "write sqlite:FILE or sqlite:///PATH"

// parseDSN is the absolute path of the file.
func (l *Ledger) parseDSN(dsn string) (string, error) {
	bad := func(why string) (string, error) {
		return "", l.errorf(reconcile.LedgerBadDSN, "", formsOfDSN, "%s", why)
	}
	name, ok := strings.CutPrefix(dsn, "sqlite:")
	if !ok {
		return bad("the DSN does not begin with sqlite:")
	}
	name, query, _ := strings.Cut(name, "?")
	if strings.HasPrefix(name, "//") {
		u, err := url.Parse("sqlite:" + name)
		if err != nil || u.Host != "" || u.User != nil {
			return bad("a SQLite DSN has no host: three slashes, or none, stand before the path")
		}
		name = u.Path
		// A drive letter follows the slash on Windows: sqlite:///C:/ledger.db.
		if filepath.VolumeName(strings.TrimPrefix(name, "/")) != "" {
			name = strings.TrimPrefix(name, "/")
		}
	}
	switch {
	case name == "" || strings.ContainsRune(name, 0):
		return bad("the DSN names no file")
	case strings.Contains(name, ":memory:"), strings.Contains(query, "mode=memory"):
		return bad("a database in memory belongs to the process that made it")
	}
	path, err := filepath.Abs(filepath.FromSlash(name))
	if err != nil {
		return bad("the path cannot be made absolute")
	}
	return path, nil
}

// uri is how SQLite opens the file: read-only twice over (the open mode, which
// nothing can undo and which makes no file, and query_only), with double quotes
// for names alone, and waiting for a writer's lock.
func (l *Ledger) uri() string {
	path := filepath.ToSlash(l.path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	q := url.Values{
		"mode":          {"ro"},
		"_query_only":   {"1"},
		"_defensive":    {"1"},
		"_dqs":          {"0"},
		"_error_rc":     {"1"},
		"_busy_timeout": {strconv.FormatInt(max(1, l.timeout.Milliseconds()), 10)},
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String()
}
