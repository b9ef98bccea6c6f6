package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// DefaultLedger is the name of a ledger that was given without one.
const DefaultLedger = "default"

// namedDSN is NAME=DSN. The DSN must begin with a scheme, so that the keyword form ("host=db user=…") and
// parameters of a DSN are no names.
var namedDSN = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9_.-]*)=((?:[a-z][a-z0-9+.-]*:|\$\{|file:).*)$`)

// ledgers settles the ledgers: those of the file, with the DSNs that --ledger or IDEMCTL_LEDGER gives for their
// names, and further ones those name. Without any, DATABASE_URL is the one.
func (r *resolver) ledgers(written []Ledger, key string) []Ledger {
	settled := slices.Clone(written)
	given, source := r.givenLedgers()
	named := map[string]bool{}
	for _, text := range given {
		name, dsn := r.splitLedger(text, source, settled)
		if named[name] {
			r.errorf(source, "", "the ledger %s is given twice, expected it once, or another NAME=DSN", name)
			continue
		}
		named[name] = true
		ledger := Ledger{
			Name: Setting[string]{Value: name, Source: source},
			DSN:  Setting[ConnString]{Value: NewConnString(dsn), Source: source},
		}
		at := slices.IndexFunc(settled, func(l Ledger) bool { return l.Name.Value == name })
		if at < 0 {
			settled = append(settled, ledger)
			continue
		}
		settled[at].DSN = ledger.DSN
	}
	if url := r.env.variable("DATABASE_URL"); len(settled) == 0 && url != "" {
		fallback := Source{Kind: SourceFallback, Where: "DATABASE_URL"}
		return []Ledger{{
			Name: byDefault(DefaultLedger),
			DSN:  Setting[ConnString]{Value: NewConnString(url), Source: fallback},
		}}
	}
	for n := range settled {
		dsn := &settled[n].DSN
		expanded := r.expanded(dsn.Source, fmt.Sprintf("%s.ledgers[%d].dsn", key, n), dsn.Value.Reveal(), true)
		dsn.Value = NewConnString(expanded)
	}
	return settled
}

// givenLedgers lists what --ledger says, else what IDEMCTL_LEDGER says, one a line.
func (r *resolver) givenLedgers() ([]string, Source) {
	if values, spelt := r.flags.values("ledger"); len(values) > 0 {
		return values, flagSource(spelt)
	}
	variable := Variable("ledger")
	var lines []string
	for line := range strings.Lines(r.variable(variable)) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines, envSource(variable)
}

// splitLedger splits NAME=DSN. A DSN alone stands for the only ledger there is, or is the ledger "default" when
// there is none.
func (r *resolver) splitLedger(text string, source Source, known []Ledger) (name, dsn string) {
	if parts := namedDSN.FindStringSubmatch(text); parts != nil {
		return parts[1], parts[2]
	}
	if strings.TrimSpace(text) == "" {
		r.errorf(source, "", "empty, expected DSN or NAME=DSN")
		return DefaultLedger, text
	}
	names := ledgerNames(known)
	if len(names) == 1 {
		return names[0], text
	}
	if len(names) > 1 {
		r.errorf(source, "", "a DSN without a name, expected NAME=DSN with NAME %s", oneOf(names))
	}
	return DefaultLedger, text
}
