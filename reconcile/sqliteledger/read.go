package sqliteledger

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/idemctl/idemctl/reconcile"
)

// batch is the keys of one Read: what is asked, and for each source and key as
// it is read back, the positions in the call's keys.
type batch struct {
	texts, integers []byte // JSON arrays
	where           []map[string][]int
}

// Read reads every source for every key in one statement. An empty batch asks
// nothing. A fence has no meaning here: a file has no replica.
func (k *lookup) Read(ctx context.Context, keys []string, _ bool) (reconcile.Rows, error) {
	out := reconcile.Rows{Keys: make([][]reconcile.Row, len(keys))}
	for i := range out.Keys {
		out.Keys[i] = make([]reconcile.Row, len(k.sources))
	}
	if len(keys) == 0 {
		return out, nil
	}
	b, err := k.batch(keys)
	if err != nil {
		return reconcile.Rows{}, k.ledger.errorf(reconcile.LedgerFailed, k.tables, "", "%w", err)
	}
	// Everything committed before this instant is seen: the statement begins
	// after it.
	out.At = time.Now().UTC()
	err = k.ledger.query(ctx, k.tables, func(ctx context.Context) error { return k.read(ctx, b, out.Keys) })
	if err != nil {
		return reconcile.Rows{}, err
	}
	return out, nil
}

func (k *lookup) batch(keys []string) (*batch, error) {
	b := &batch{where: make([]map[string][]int, len(k.sources))}
	for s := range k.sources {
		b.where[s] = make(map[string][]int, len(keys))
	}
	texts, integers := []string{}, []int64{}
	for i, key := range keys {
		if _, problem := k.Fit(key); problem != "" {
			continue
		}
		texts = append(texts, key)
		number := false
		for s := range k.sources {
			asked := k.sources[s].form.asked(key)
			b.where[s][asked] = append(b.where[s][asked], i)
			if n, plain := plainInteger(asked); plain && k.sources[s].form.asNumber() && !number {
				integers, number = append(integers, n), true
			}
		}
	}
	var err error
	if b.texts, err = json.Marshal(texts); err != nil {
		return nil, err
	}
	b.integers, err = json.Marshal(integers)
	return b, err
}

// read runs the statement and gathers its rows by key.
func (k *lookup) read(ctx context.Context, b *batch, out [][]reconcile.Row) error {
	rows, err := k.ledger.db.QueryContext(ctx, k.sql, string(b.texts), string(b.integers))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var s int
		var passes bool
		var key, at, claimed, fingerprint any
		if err := rows.Scan(&s, &key, &passes, &at, &claimed, &fingerprint); err != nil {
			return err
		}
		found := finding{passes: passes, at: moment(at), claimed: moment(claimed), fingerprint: digits(fingerprint)}
		for _, i := range b.where[s][spelling(key)] {
			found.addTo(&out[i][s])
		}
	}
	return rows.Err()
}

// finding is one row of a source.
type finding struct {
	passes      bool
	at, claimed time.Time
	fingerprint string
}

func (f finding) addTo(r *reconcile.Row) {
	r.Count++
	if !f.passes {
		if f.claimed.After(r.ClaimedAt) {
			r.ClaimedAt = f.claimed
		}
		if r.Fingerprint == "" {
			r.Fingerprint = f.fingerprint
		}
		return
	}
	r.Passing++
	// The fingerprint of a row that passes is preferred.
	if f.fingerprint != "" && (r.Passing == 1 || r.Fingerprint == "") {
		r.Fingerprint = f.fingerprint
	}
	if f.at.IsZero() {
		return
	}
	if r.FirstAt.IsZero() || f.at.Before(r.FirstAt) {
		r.FirstAt = f.at
	}
	if f.at.After(r.LastAt) {
		r.LastAt = f.at
	}
}

// spelling is a stored value as a key.
func spelling(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	case int64:
		return strconv.FormatInt(v, 10)
	}
	return fmt.Sprint(v)
}

// digits is a stored fingerprint in lower-case hexadecimal digits.
func digits(v any) string {
	switch v := v.(type) {
	case []byte:
		return hex.EncodeToString(v)
	case string:
		return strings.ReplaceAll(strings.TrimPrefix(strings.ToLower(strings.TrimSpace(v)), `\x`), "-", "")
	}
	return ""
}
