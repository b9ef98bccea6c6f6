package config

import (
	"net/url"
	"strings"
)

// How a connection string is masked: only what was understood is shown. The string is read by a strict grammar;
// parts that can hold a secret (a password, a token in the place of a user name, parameters with a telling name)
// become "xxxxx", and a string that leaves the grammar anywhere is hidden from the first byte after its scheme,
// or altogether when its scheme is none that is expected here. Passwords with raw "/", "?", "#" or "@" therefore
// hide too much rather than too little.

// Mask hides the secrets in a Redis URI or a ledger DSN. Its forms: scheme://[user[:password]@]hosts[/path][?query],
// sqlite:FILE[?query], host:port, and libpq's keyword form ("host=db password=…"). It gives "" for "".
func Mask(conn string) string {
	if strings.ContainsFunc(conn, isPlaceholder) {
		return masked
	}
	shown, _ := maskConn(conn)
	return shown
}

// maskReferences masks a connection string as it stands in the file: references such as ${PASSWORD} are shown,
// for they name a secret and are none. It reports whether anything else had to be hidden.
func maskReferences(conn string) (shown string, hidden bool) {
	if strings.ContainsFunc(conn, isPlaceholder) {
		return masked, true
	}
	marked, restore := markReferences(conn)
	if isPlaceholders(marked) {
		return conn, false
	}
	shown, hidden = maskConn(marked)
	return restore(shown), hidden
}

// maskConn masks conn and reports whether anything had to be hidden.
func maskConn(conn string) (shown string, hidden bool) {
	switch {
	case conn == "":
		return "", false
	case isAddress(conn):
		return conn, false
	}
	scheme, rest, found := strings.Cut(conn, ":")
	kind := schemes[scheme]
	known := kind != schemeUnknown
	switch {
	case !found || !isScheme(scheme):
		return maskKeywords(conn)
	case strings.HasPrefix(rest, "//") && !known:
		return scheme + "://" + masked, true
	case strings.HasPrefix(rest, "//") && kind != schemeFile:
		shown, hidden, ok := maskHierarchy(rest[len("//"):], kind)
		if !ok {
			return scheme + "://" + masked, true
		}
		return scheme + "://" + shown, hidden
	case known && kind == schemeFile:
		shown, hidden, ok := maskFile(rest)
		if !ok {
			return scheme + ":" + masked, true
		}
		return scheme + ":" + shown, hidden
	case known:
		return scheme + ":" + masked, true
	default:
		return maskKeywords(conn)
	}
}

// schemeKind says what may stand where in a connection string of a scheme.
type schemeKind int

const (
	// schemeUnknown: nothing is known of it, and nothing behind it is shown.
	schemeUnknown schemeKind = iota
	// schemeRedis: a user name without a password is more often a password in the wrong place.
	schemeRedis
	// schemeSQL: a user name without a password is a user name.
	schemeSQL
	// schemeFile: no authority, only a path.
	schemeFile
)

var schemes = map[string]schemeKind{
	"redis": schemeRedis, "rediss": schemeRedis, "unix": schemeRedis, "redis-socket": schemeRedis,
	"redis-sentinel": schemeRedis, "rediss-sentinel": schemeRedis,
	"redis-cluster": schemeRedis, "rediss-cluster": schemeRedis,
	"postgres": schemeSQL, "postgresql": schemeSQL, "mysql": schemeSQL,
	"sqlite": schemeFile,
}

// maskHierarchy masks what follows "scheme://": [userinfo@]hosts[/path][?query]. It is not ok when the text could
// be read in another way that would show a secret.
func maskHierarchy(text string, kind schemeKind) (shown string, hidden, ok bool) {
	authority, path, query := splitHierarchy(text)
	if strings.Contains(query, "@") || !isPlainPath(path) {
		return "", false, false
	}
	userinfo, hosts := "", authority
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		userinfo, hosts = authority[:at+1], authority[at+1:]
	}
	for host := range strings.SplitSeq(hosts, ",") {
		if !isHostPort(host) {
			return "", false, false
		}
	}
	userinfo, hidUser, ok := maskUserinfo(userinfo, kind)
	if !ok {
		return "", false, false
	}
	query, hidQuery, ok := maskQuery(query)
	return userinfo + hosts + path + query, hidUser || hidQuery, ok
}

// splitHierarchy cuts at the first "/" and the first "?" (RFC 3986 section 3). A fragment means nothing in a
// connection string; it stays in the part where it stands, and no part allows "#".
func splitHierarchy(text string) (authority, path, query string) {
	rest := text
	if at := strings.IndexByte(rest, '?'); at >= 0 {
		rest, query = rest[:at], rest[at:]
	}
	if at := strings.IndexByte(rest, '/'); at >= 0 {
		rest, path = rest[:at], rest[at:]
	}
	return rest, path, query
}

// maskUserinfo masks "user:password@". Placeholders of references are no secret and stay.
func maskUserinfo(userinfo string, kind schemeKind) (shown string, hidden, ok bool) {
	if userinfo == "" {
		return "", false, true
	}
	user, password, found := strings.Cut(strings.TrimSuffix(userinfo, "@"), ":")
	if !isOf(user, "%-._~!$&'()*+;=") {
		return "", false, false
	}
	switch {
	case !found && (kind == schemeSQL || isPlaceholders(user)):
		return user + "@", false, true
	case !found:
		return masked + "@", true, true
	case password == "" || isPlaceholders(password):
		return user + ":" + password + "@", false, true
	default:
		return user + ":" + masked + "@", true, true
	}
}

// maskQuery masks the values of "?name=value&…" that may be secrets.
func maskQuery(query string) (shown string, hidden, ok bool) {
	if query == "" {
		return "", false, true
	}
	pairs := strings.Split(query[1:], "&")
	for n, pair := range pairs {
		name, value, found := strings.Cut(pair, "=")
		if hidden && !harmless[name] && !secretParameter[name] {
			// The secret before it may have held a raw "&".
			return "?" + strings.Join(append(pairs[:n:n], masked), "&"), true, true
		}
		plainName, err := url.QueryUnescape(name)
		if err != nil || !isOf(plainName, "-._") || (!found && name != "") {
			return "", false, false
		}
		plainValue, err := url.QueryUnescape(value)
		switch {
		case value == "" || isPlaceholders(value):
		case err != nil || tells(plainName) || tells(plainValue) || !isOf(plainValue, " -._~!$'()*+,;:/@%=\""):
			pairs[n], hidden = name+"="+masked, true
		}
	}
	return "?" + strings.Join(pairs, "&"), hidden, true
}

// maskFile masks what follows "sqlite:": a path and its query.
func maskFile(text string) (shown string, hidden, ok bool) {
	path, query := text, ""
	if at := strings.IndexByte(text, '?'); at >= 0 {
		path, query = text[:at], text[at:]
	}
	if !isPrintable(path) {
		return "", false, false
	}
	query, hidden, ok = maskQuery(query)
	return path + query, hidden, ok
}

// tells reports whether a parameter of that name, or a value that speaks so, may hold a secret.
func tells(text string) bool {
	text = strings.ToLower(text)
	for _, word := range []string{"pass", "pwd", "secret", "token", "auth", "key", "credential"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}
