package pgledger_test

import (
	"context"
	"strings"
	"testing"

	"github.com/idemctl/idemctl/reconcile"
	"github.com/idemctl/idemctl/reconcile/pgledger"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

func TestMain(m *testing.M) { reconciletest.Main(m) }

// store is a PostgreSQL database for the suite.
type store struct{ *reconciletest.Database }

func (s store) Open(o reconciletest.Opening) (reconcile.Ledger, error) {
	l, err := pgledger.Open(context.Background(), pgledger.Options{
		Name: "main", DSN: s.DSN, Timeout: o.Timeout, MaxConns: o.MaxConns, AllowScan: o.AllowScan,
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

func (s store) Write(l reconcile.Ledger, sql string) error {
	return l.(*pgledger.Ledger).Write(context.Background(), sql)
}

const someUUID = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"

func TestConform(t *testing.T) {
	notIntegers := []string{"", "x", "1.0", "1e3", "0x1", " 1", "1 ", "12345678901234567890", "\x00", "\xff", "1; DROP TABLE x"}
	reconciletest.Conform(t, reconciletest.Backend{
		New:    func(t testing.TB) reconciletest.Store { return store{reconciletest.Postgres(t)} },
		Schema: "public", Placeholder: "$",
		Text: "text", Integer: "integer", Bytes: "bytea", Time: "timestamptz",
		Keys: []reconciletest.KeyColumn{
			{Type: "text", Holds: []string{"a", "b", "A", "42", someUUID, "é", "a "}, Unfit: []string{"", "a\x00", "\xff"}},
			{Type: "varchar", Holds: []string{"a", "b"}, Unfit: []string{""}},
			{Type: "varchar(3)", Holds: []string{"abc", "abd", "äöü", "ab "}, Unfit: []string{"abcd", "äöüß"}},
			{Type: "char(5)", Holds: []string{"abc", "abd", "abcde", "äöü"}, Unfit: []string{"abcdef", "abc ", ""}},
			{
				Type:  "uuid",
				Holds: []string{someUUID, "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"},
				Same: [][2]string{
					{someUUID, strings.ToUpper(someUUID)},
					{someUUID, "{" + someUUID + "}"},
					{someUUID, strings.ReplaceAll(someUUID, "-", "")},
					{someUUID, "urn:uuid:" + someUUID},
					{someUUID, "a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11"},
				},
				Unfit: []string{
					"", "x", someUUID + "0", someUUID[1:], "{" + someUUID, someUUID + "-", "-" + someUUID,
					"a0eebc999-c0b-4ef8-bb6d-6bb9bd380a11", "g0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", " " + someUUID, someUUID + "\x00",
					"a0eebc99--9c0b-4ef8-bb6d6bb9bd380a11",
				},
			},
			{Type: "smallint", Holds: []string{"1", "-32768", "32767", "0"}, Unfit: append(notIntegers, "32768", "-32769")},
			{
				Type: "integer", Holds: []string{"1", "-2147483648", "2147483647"}, Unfit: append(notIntegers, "2147483648"),
				Same: [][2]string{{"1", "+1"}, {"1", "001"}},
			},
			{
				Type: "bigint", Holds: []string{"1", "-9223372036854775808", "9223372036854775807", "9007199254740993"},
				Unfit: append(notIntegers, "9223372036854775808"),
			},
			{
				Type: "bytea", Holds: []string{"a", "\\x61", "é", someUUID}, Unfit: []string{"", "a\x00", "\xff"},
				Stored: func(key string) any { return []byte(key) },
			},
		},
		Refused: []string{"numeric", "boolean", "json", "jsonb", "timestamptz", "double precision", "inet", "text[]", "name"},
	})
}
