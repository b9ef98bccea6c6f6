package pgledger

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemctl/idemctl/reconcile/internal/sqltext"
)

// compose writes the statement that reads all sources. Its first row speaks of
// the server; the others are one for each source and key that has rows.
func (k *lookup) compose() {
	var b strings.Builder
	b.WriteString(`SELECT -1 AS source, pg_is_in_recovery()::text AS key, 0::int8, 0::int8,
	statement_timestamp(), NULL::timestamptz, NULL::timestamptz, NULL::text`)
	for i := range k.sources {
		s := &k.sources[i]
		if !slices.Contains(k.kinds, s.form.kind) {
			k.kinds = append(k.kinds, s.form.kind)
		}
		fmt.Fprintf(&b, "\nUNION ALL\n%s", s.statement(i, k.parameter(s)))
	}
	k.sql = b.String()
	var tables []string
	for i := range k.sources {
		if t := k.sources[i].facts.Table; !slices.Contains(tables, t) {
			tables = append(tables, t)
		}
	}
	k.tables = strings.Join(tables, ", ")
}

// parameter is the placeholder with the keys in the type of the source's column.
func (k *lookup) parameter(s *source) string {
	n := slices.Index(k.kinds, s.form.kind) + 1
	return fmt.Sprintf("$%d::%s", n, arrays[s.form.kind].name)
}

// statement reads one source, grouped by key. The table has no alias, so that a
// predicate may qualify its columns.
func (s *source) statement(number int, keys string) string {
	return fmt.Sprintf(`SELECT %d, k COLLATE "C", count(*), count(*) FILTER (WHERE p),
	min(t) FILTER (WHERE p AND isfinite(t)), max(t) FILTER (WHERE p AND isfinite(t)),
	max(c) FILTER (WHERE NOT p AND isfinite(c)), coalesce(min(f) FILTER (WHERE p), min(f))
FROM (SELECT %s AS k, %s AS p, %s AS t, %s AS c, %s AS f FROM %s WHERE %s = ANY(%s)) AS r GROUP BY k COLLATE "C"`,
		number, s.form.kind.expression(sqltext.Quote(s.key.name)), s.passing(), instant(s.at), instant(s.claimed),
		digits(s.fingerprint), s.relation.quoted(), sqltext.Quote(s.key.name), keys)
}

// passing is whether a row passes; an unknown truth value does not.
func (s *source) passing() string {
	if s.when == "" {
		return "true"
	}
	return "((" + s.when + ") IS TRUE)"
}

func instant(c *column) string {
	if c == nil {
		return "NULL::timestamptz"
	}
	return sqltext.Quote(c.name) + "::timestamptz"
}

// digits is a fingerprint in lower-case hexadecimal digits.
func digits(c *column) string {
	if c == nil {
		return "NULL::text"
	}
	name := sqltext.Quote(c.name)
	switch c.typeOID {
	case oidBytea:
		return "encode(" + name + ", 'hex')"
	case oidUUID:
		return "replace(" + name + "::text, '-', '')"
	}
	return `regexp_replace(lower(btrim(` + name + `::text)), '^\\x', '') COLLATE "C"`
}
