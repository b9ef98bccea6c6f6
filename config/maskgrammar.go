package config

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The small words of the grammar that [Mask] reads: what a host, a port, a path and a libpq value may look like.
// The placeholder of a reference is an ordinary character wherever a name, a host or a path may stand.

// isScheme follows RFC 3986 section 3.1, in lower case.
func isScheme(text string) bool {
	if text == "" || text[0] < 'a' || text[0] > 'z' {
		return false
	}
	return strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789+-.") == ""
}

// isAddress reports whether text is host:port or :port, the form of the official asynq CLI.
func isAddress(text string) bool {
	at := strings.LastIndexByte(text, ':')
	return at >= 0 && at < len(text)-1 && isPort(withoutPlaceholders(text[at+1:])) && isHostPort(text)
}

// isHostPort reports whether text is [host][:port], with the host a name, an IPv4 or a bracketed IPv6 address. A
// port is digits: anything else after the colon may be a password whose "@host" is missing.
func isHostPort(text string) bool {
	text = withoutPlaceholders(text)
	host, port := text, ""
	if strings.HasPrefix(text, "[") {
		end := strings.IndexByte(text, ']')
		if end < 0 || strings.Trim(text[1:end], "0123456789abcdefABCDEF:.%") != "" {
			return false
		}
		host, port = "", text[end+1:]
	} else if at := strings.IndexByte(text, ':'); at >= 0 {
		host, port = text[:at], text[at:]
	}
	return isOf(host, "-._") && (port == "" || port[0] == ':' && (port == ":" || isPort(port[1:])))
}

func isPort(text string) bool {
	return len(text) <= 5 && strings.Trim(text, "0123456789") == ""
}

func isPlainPath(text string) bool { return isOf(text, "/-._~%+:,=!$&'()*;") }

// isOf reports whether text has only letters, digits, placeholders and the given ASCII characters.
func isOf(text, others string) bool {
	for _, r := range withoutPlaceholders(text) {
		if r == utf8.RuneError || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(others, r) {
			return false
		}
	}
	return true
}

func isPrintable(text string) bool {
	for _, r := range text {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// maskKeywords masks libpq's keyword form: name = value, the value plain or in single quotes, a backslash before
// any character (libpq, PQconninfo "Keyword/Value Connection Strings"). Only values of parameters that are known
// to be harmless are shown; a string that is not of this form is hidden altogether.
func maskKeywords(text string) (shown string, hidden bool) {
	var out []string
	for rest := strings.TrimLeft(text, " \t\r\n"); rest != ""; rest = strings.TrimLeft(rest, " \t\r\n") {
		name, after, found := strings.Cut(rest, "=")
		name = strings.TrimRight(name, " \t\r\n")
		value, tail, ok := cutKeywordValue(strings.TrimLeft(after, " \t\r\n"))
		if !found || !ok {
			return masked, true
		}
		switch {
		case harmless[name] && isPrintable(value):
		case secretParameter[name] && isPlaceholders(strings.Trim(value, "'")):
		case secretParameter[name]:
			value, hidden = masked, true
		default:
			return masked, true
		}
		out = append(out, name+"="+value)
		rest = tail
	}
	if len(out) == 0 {
		return masked, true
	}
	return strings.Join(out, " "), hidden
}

// harmless are parameters of libpq, pgx, go-redis and SQLite drivers that never hold a secret.
var harmless = setOf("host", "hostaddr", "port", "user", "dbname", "database", "sslmode", "sslrootcert", "sslcert",
	"sslsni", "sslnegotiation", "application_name", "connect_timeout", "target_session_attrs", "search_path",
	"client_encoding", "service", "statement_timeout", "TimeZone", "timezone", "gssencmode", "channel_binding",
	"load_balance_hosts", "default_query_exec_mode", "db", "master", "master_name", "protocol", "mode", "cache",
	"addr", "dial_timeout", "read_timeout", "write_timeout", "pool_max_conns", "pool_min_conns")

// secretParameter are parameters whose values are always hidden and whose names may be shown.
var secretParameter = setOf("password", "sslpassword", "passfile", "sslkey", "sentinel_password")

func setOf(names ...string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// cutKeywordValue cuts one value, quotes and backslashes included, off the front of text.
func cutKeywordValue(text string) (value, rest string, ok bool) {
	quoted := strings.HasPrefix(text, "'")
	n := 0
	if quoted {
		n = 1
	}
	for ; n < len(text); n++ {
		switch c := text[n]; {
		case c == '\\':
			n++
		case quoted && c == '\'':
			tail := text[n+1:]
			return text[:n+1], tail, tail == "" || strings.IndexByte(" \t\r\n", tail[0]) >= 0
		case !quoted && strings.IndexByte(" \t\r\n", c) >= 0:
			return text[:n], text[n:], true
		}
	}
	return text, "", !quoted && n == len(text)
}

// Placeholders stand for references while a string is masked: one private-use character each, so that no
// ordinary string can hold them.
const (
	firstPlaceholder = '\uE000'
	lastPlaceholder  = '\uF8FF'
)

func isPlaceholder(r rune) bool { return r >= firstPlaceholder && r <= lastPlaceholder }

func withoutPlaceholders(text string) string {
	return strings.Map(func(r rune) rune {
		if isPlaceholder(r) {
			return -1
		}
		return r
	}, text)
}

// isPlaceholders reports whether text is references and nothing else.
func isPlaceholders(text string) bool { return text != "" && withoutPlaceholders(text) == "" }

// markReferences puts a placeholder in the place of each ${NAME}; restore puts them back into any part of the
// result.
func markReferences(text string) (marked string, restore func(string) string) {
	var back []string
	next := firstPlaceholder
	marked = referencePattern.ReplaceAllStringFunc(text, func(reference string) string {
		if next > lastPlaceholder {
			return reference
		}
		back = append(back, string(next), reference)
		next++
		return string(next - 1)
	})
	return marked, strings.NewReplacer(back...).Replace
}
