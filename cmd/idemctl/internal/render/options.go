package render

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idemctl/idemctl/reconcile"
)

// Format is one of the output formats. The zero value is FormatTable.
type Format string

// The formats. FormatTable has two faces: a report where the reader is a
// terminal, tab-separated columns where it is not.
const (
	FormatTable    Format = "table"
	FormatWide     Format = "wide"     // every fact, one line a finding, not fitted to the terminal
	FormatJSON     Format = "json"     // one document
	FormatNDJSON   Format = "ndjson"   // one finding a line as it is confirmed, then a summary
	FormatCSV      Format = "csv"      // RFC 4180, safe to open in a spreadsheet
	FormatMarkdown Format = "markdown" // GitHub's dialect
	FormatName     Format = "name"     // QUEUE/ID a line, see Name
)

// Formats lists the formats in the order help shows them.
func Formats() []Format {
	return []Format{FormatTable, FormatWide, FormatJSON, FormatNDJSON, FormatCSV, FormatMarkdown, FormatName}
}

// ParseFormat reads a format's name; "" is FormatTable.
func ParseFormat(name string) (Format, error) {
	if name == "" {
		return FormatTable, nil
	}
	if f := Format(strings.ToLower(name)); slices.Contains(Formats(), f) {
		return f, nil
	}
	names := make([]string, 0, len(Formats()))
	for _, f := range Formats() {
		names = append(names, string(f))
	}
	return FormatTable, fmt.Errorf("unknown output format %q (one of %s)", name, strings.Join(names, ", "))
}

const (
	defaultWidth = 80
	// minWidth is the narrowest page that still holds a column and its margin.
	minWidth = 40
	// defaultLimit is how many findings a report on a terminal spells out.
	defaultLimit = 20
)

// Options say how to present results.
type Options struct {
	Format Format // "" is FormatTable
	Width  int    // cells of the terminal; 0 means 80
	Color  bool   // whether the terminal may be sent colours
	TTY    bool   // whether the reader is a terminal
	UTC    bool   // times in UTC, also on a terminal
	// Connection names the flags that say what to connect to, as they were given:
	// the commands that a report suggests need them, too.
	Connection []string
	// Same are those of them that hold no secret, with their values, as a command takes
	// them; Unsaid names the others.
	Same   string
	Unsaid []string
	// NoHeaders leaves out column titles and, in a pipe, the lines that begin
	// with #, except the one that says that the results are incomplete.
	NoHeaders bool
	// Limit is how many findings or tasks to print. 0 means the format's own:
	// 20 findings in a report on a terminal, else all. Less than 0 means all; a
	// report on a terminal then keeps all of them in memory until it is printed.
	Limit int
	// Sort is a name from SortKeys, with a leading "-" for the other direction;
	// "" means severity, code, queue, task ID, and for tasks as they were read.
	Sort string
	// Redact are paths into payloads that are never printed, see CheckRedact.
	Redact []string
	// ShowPayload prints payloads; FormatWide always does.
	ShowPayload bool
	// IsNew says whether a finding is to be marked as new in a report on a
	// terminal, for reports that are drawn again and again; nil marks none.
	IsNew func(*reconcile.Finding) bool
	// Now is the clock that ages on a terminal are measured by; nil means
	// time.Now.
	Now func() time.Time
	// Loc is the zone of times on a terminal; nil means the local one.
	Loc *time.Location
}

// Validate says what is wrong with the options.
func (o Options) Validate() error {
	if _, err := ParseFormat(string(o.Format)); err != nil {
		return err
	}
	if _, err := parseOrder(o.Sort); err != nil {
		return err
	}
	_, err := newRedactor(o.Redact)
	return err
}

// filled has every default in place.
func (o Options) filled() Options {
	if o.Format == "" {
		o.Format = FormatTable
	}
	if o.Width <= 0 {
		o.Width = defaultWidth
	}
	o.Width = max(o.Width, minWidth)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Loc == nil {
		o.Loc = time.Local
	}
	if o.UTC || !o.TTY {
		o.Loc = time.UTC
	}
	o.Color = o.Color && o.TTY
	o.ShowPayload = o.ShowPayload || o.Format == FormatWide
	return o
}

// limited is how many lines to print: o.Limit, or fallback where it is 0; less
// than 0 is everything.
func (o Options) limited(fallback int) int {
	if o.Limit == 0 {
		return fallback
	}
	return o.Limit
}
