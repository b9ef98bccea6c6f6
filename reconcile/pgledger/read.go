package pgledger

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idemctl/idemctl/reconcile"
)

const binaryFormat = 1

// batch is the keys of one Read in the forms in which they are asked: for each
// key type and key as asked, the positions in the call's keys.
type batch [keyTypes]map[string][]int

// Read reads every source for every key in one statement. A batch of up to a
// thousand keys is what index lookups serve best; an empty one asks nothing.
// A call that fails leaves the ledger usable: the next one takes a new
// connection where the old one was lost.
func (k *lookup) Read(ctx context.Context, keys []string, fence bool) (reconcile.Rows, error) {
	out := reconcile.Rows{Keys: newRows(len(keys), len(k.sources))}
	if len(keys) == 0 {
		return out, nil
	}
	l := k.ledger
	if l.closed.Load() {
		return reconcile.Rows{}, l.errorf(reconcile.LedgerFailed, "", "", "%w", errClosed)
	}
	ctx, cancel := l.bounded(ctx)
	defer cancel()
	conn, err := l.pool.Acquire(ctx)
	if err != nil {
		return reconcile.Rows{}, l.fail(ctx, err, l.server)
	}
	// A connection in a broken or unended transaction is not kept by the pool.
	defer conn.Release()
	if err := k.read(ctx, conn.Conn(), k.batch(keys), fence, &out); err != nil {
		return reconcile.Rows{}, l.fail(ctx, err, k.tables)
	}
	return out, nil
}

// newRows is a table of empty rows in one piece of memory.
func newRows(keys, sources int) [][]reconcile.Row {
	flat := make([]reconcile.Row, keys*sources)
	out := make([][]reconcile.Row, keys)
	for i := range out {
		out[i] = flat[i*sources : (i+1)*sources : (i+1)*sources]
	}
	return out
}

func (k *lookup) batch(keys []string) *batch {
	var b batch
	for _, kind := range k.kinds {
		b[kind] = make(map[string][]int, len(keys))
	}
	for i, key := range keys {
		if _, problem := k.Fit(key); problem != "" {
			continue
		}
		for _, kind := range k.kinds {
			c := kind.asked(key)
			b[kind][c] = append(b[kind][c], i)
		}
	}
	return &b
}

// read runs the transaction. Its begin, its limits, the lookup and its end go out
// together and cost one round trip. Where a fence is to be awaited the begin goes
// out alone: the wait and the lookup are then still in one transaction, which a
// pooler cannot give to two servers.
func (k *lookup) read(ctx context.Context, conn *pgx.Conn, b *batch, fence bool, out *reconcile.Rows) error {
	if fence && k.ledger.primary.dsn != "" {
		recovering, err := k.exchange(ctx, conn, true, nil, nil)
		if err != nil {
			return err
		}
		caughtUp := false
		if recovering {
			if caughtUp, err = k.ledger.awaitPrimary(ctx, conn.PgConn()); err != nil {
				return err
			}
		}
		_, err = k.exchange(ctx, conn, false, b, out)
		out.Lagging = (out.Lagging || recovering) && !caughtUp || k.stale
		return err
	}
	recovering, err := k.exchange(ctx, conn, true, b, out)
	// A server promoted between the two answers may have read before it had
	// replayed everything.
	out.Lagging = out.Lagging || recovering || k.stale
	return err
}

// exchange sends the begin of the transaction, the lookup with its end, or both,
// and reads the answers. It says whether the server was in recovery at the begin.
func (k *lookup) exchange(ctx context.Context, conn *pgx.Conn, begin bool, b *batch, out *reconcile.Rows) (recovering bool, err error) {
	ask := &pgconn.Batch{}
	if begin {
		ask.ExecParams(beginReadOnly, nil, nil, nil, nil)
		ask.ExecParams(k.setup, nil, nil, nil, []int16{binaryFormat})
	}
	if b != nil {
		if err := k.addLookup(ask, conn.TypeMap(), b); err != nil {
			return false, err
		}
		ask.ExecParams("COMMIT", nil, nil, nil, nil)
	}
	results := conn.PgConn().ExecBatch(ctx, ask)
	err = func() error {
		if begin {
			if recovering, err = readBegin(results); err != nil {
				return err
			}
		}
		if b != nil {
			return k.readLookup(results, b, out)
		}
		return nil
	}()
	// The error of the exchange itself comes first: answers that are missing are
	// its consequence.
	if closeErr := results.Close(); closeErr != nil {
		return recovering, closeErr
	}
	return recovering, err
}

// addLookup adds the lookup's statement with its arrays of keys.
func (k *lookup) addLookup(ask *pgconn.Batch, m *pgtype.Map, b *batch) error {
	var values [][]byte
	var oids []uint32
	for _, kind := range k.kinds {
		keys := make([]string, 0, len(b[kind]))
		for key := range b[kind] {
			keys = append(keys, key)
		}
		value, err := m.Encode(arrays[kind].oid, binaryFormat, kind.array(keys), nil)
		if err != nil {
			return err
		}
		values, oids = append(values, value), append(oids, arrays[kind].oid)
	}
	formats := slices.Repeat([]int16{binaryFormat}, len(values))
	ask.ExecParams(k.sql, values, oids, formats, []int16{binaryFormat})
	return nil
}

var errNoResult = errors.New("the server left a statement unanswered")

// readBegin reads the answers to the begin and to the settings.
func readBegin(results *pgconn.MultiResultReader) (recovering bool, err error) {
	if !results.NextResult() {
		return false, errNoResult
	}
	if _, err := results.ResultReader().Close(); err != nil {
		return false, err
	}
	if !results.NextResult() {
		return false, errNoResult
	}
	rr := results.ResultReader()
	readOnly := false
	for rr.NextRow() {
		v := rr.Values()
		readOnly, recovering = truth(v[0]), truth(v[1])
	}
	if _, err := rr.Close(); err != nil {
		return false, err
	}
	if !readOnly {
		return false, errWritable
	}
	return recovering, nil
}

// readLookup reads the rows of the lookup and gives each to the keys it answers.
func (k *lookup) readLookup(results *pgconn.MultiResultReader, b *batch, out *reconcile.Rows) error {
	if !results.NextResult() {
		return errNoResult
	}
	rr := results.ResultReader()
	for rr.NextRow() {
		v := rr.Values()
		if n := int(int32(binary.BigEndian.Uint32(v[0]))); n >= 0 {
			row := rowOf(v)
			for _, i := range b[k.sources[n].form.kind][string(v[1])] {
				out.Keys[i][n] = row
			}
			continue
		}
		out.Lagging, out.At = string(v[1]) == "true", instantOf(v[4])
	}
	_, err := rr.Close()
	return err
}

// rowOf decodes the columns of the lookup's statement, in their order there.
func rowOf(v [][]byte) reconcile.Row {
	return reconcile.Row{
		Count:       int64(binary.BigEndian.Uint64(v[2])),
		Passing:     int64(binary.BigEndian.Uint64(v[3])),
		FirstAt:     instantOf(v[4]),
		LastAt:      instantOf(v[5]),
		ClaimedAt:   instantOf(v[6]),
		Fingerprint: string(v[7]),
	}
}

func truth(v []byte) bool { return len(v) == 1 && v[0] == 1 }

// epoch is the zero of the protocol's binary timestamps, which count
// microseconds (PostgreSQL documentation, date/time types: POSTGRES_EPOCH_JDATE).
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// instantOf decodes a timestamptz; NULL is the zero time. The statement lets no
// infinite one through.
func instantOf(v []byte) time.Time {
	if len(v) != 8 {
		return time.Time{}
	}
	return time.UnixMicro(epoch.UnixMicro() + int64(binary.BigEndian.Uint64(v))).UTC()
}
