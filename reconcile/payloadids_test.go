package reconcile_test

import (
	"fmt"
	"testing"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile"
)

// Many producers enqueue an ID as it is. Some of those IDs happen to be JSON
// numbers, and spelled as no canonical number is.
func TestAuditTakesBareIDsForNoBadlySpelledNumbers(t *testing.T) {
	for name, id := range map[string]func(i int) string{
		"zero-padded": func(i int) string { return fmt.Sprintf("%08d", 9_999_900+i*2) },
		"hexadecimal": func(i int) string { return fmt.Sprintf("%06x", 0x12e400+i*97) },
		"dotted":      func(i int) string { return fmt.Sprintf("%d.%d", i, i%10) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.redis.Fill("ids", inspect.StateScheduled, 200, func(i int, m *inspecttest.Message) {
				m.Type, m.Payload = "sync", []byte(id(i))
				m.UniqueKey = inspect.UniqueKey("ids", m.Type, m.Payload)
			})
			for _, f := range w.find(reconcile.Options{}) {
				if f.Code.Family() == "payload" {
					t.Errorf("%s: %s", f.Code, f.Detail)
				}
			}
		})
	}
}
