package main

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

// door is a way to a server that can be shut.
type door struct {
	at     net.Listener
	server string

	mu   sync.Mutex
	shut bool
	open []net.Conn
	// still, when held, lets nothing through and ends nothing.
	still sync.RWMutex
}

func newDoor(t *testing.T, server string) *door {
	t.Helper()
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &door{at: at, server: server}
	t.Cleanup(func() { d.let(false); _ = at.Close() })
	go func() {
		for {
			c, err := at.Accept()
			if err != nil {
				return
			}
			go d.pass(c)
		}
	}()
	return d
}

func (d *door) pass(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("tcp", d.server)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	d.mu.Lock()
	d.open = append(d.open, client, server)
	shut := d.shut
	d.mu.Unlock()
	if shut {
		return
	}
	go func() { _, _ = io.Copy(server, &stillable{client, &d.still}); _ = server.Close() }()
	_, _ = io.Copy(client, server)
}

// stillable is a connection of which nothing is read while it is to be still.
type stillable struct {
	net.Conn
	still *sync.RWMutex
}

func (s *stillable) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)
	s.still.RLock()
	defer s.still.RUnlock()
	return n, err
}

// let opens the door, or shuts it on everybody.
func (d *door) let(through bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shut = !through
	if !through {
		for _, c := range d.open {
			_ = c.Close()
		}
		d.open = nil
	}
}

// night is a browser on one archived task whose effect is applied, with a door
// before its ledger.
func night(t *testing.T) (*seat, *door) {
	t.Helper()
	server, db := inspecttest.Start(t), reconciletest.Postgres(t)
	db.Exec(`CREATE TABLE processed_tasks (task_id text PRIMARY KEY, processed_at timestamptz NOT NULL DEFAULT now())`)
	made := server.Make(inspecttest.Spec{Outcome: inspecttest.Archived, Type: "payment:charge", ID: "evt_1", Payload: []byte(`{"b":2,"a":1}`), Options: []asynq.Option{asynq.Unique(time.Hour)}, Err: fmt.Errorf("bank: no answer")})
	db.Exec(fmt.Sprintf(`INSERT INTO processed_tasks (task_id) VALUES ('%s')`, made[0].ID))
	dsn, err := url.Parse(db.DSN)
	if err != nil {
		t.Fatal(err)
	}
	way := newDoor(t, dsn.Host)
	dsn.Host = way.at.Addr().String()
	home := t.TempDir()
	config := nightly(t, home, server.URI(), dsn.String())
	time.Sleep(1200 * time.Millisecond) // the attempt has settled
	s := sitDown(t, []string{"HOME=" + home, "IDEMCTL_CONFIG=" + config}, "tui", "--context", "night", "--refresh", "2s")
	s.sees("effect/applied-archived")
	return s, way
}

// While its ledger is away a task's page says what Redis does; the banner names the
// ledger, wherever one is.
func TestBrowserWithoutItsLedger(t *testing.T) {
	s, way := night(t)
	s.types("") // what is drawn from now on is seen
	way.let(false)
	s.sees("! ledger main has not answered since ")
	s.types(":archived\r").sees("evt_1", "? unknown")
	s.types("\r").sees("? its effect is unknown: ledger main did not answer", "it is tried again in", "lock/blocks", "lock ends", "tries")
	s.types("G").sees("Held by this task", "its ledger could not be read", `"a": 1`, "PAYLOAD")
	way.let(true)
	s.types("g").sees("its effect is applied")
	s.types("")
	way.let(false)
	s.sees("! ledger main has not answered since ", "! not read again: ")
	s.types(":ov\r").sees("QUEUES", "! ledger main has not answered since ")
	s.types("\x03").leaves(exitDone)
}

// A ledger that is silent does not keep the page waiting once it is known to be.
func TestBrowserWithASilentLedger(t *testing.T) {
	s, way := night(t)
	s.types("")
	way.still.Lock()
	s.sees("! slow: no answer for ", "from the ledgers")
	s.sees("! ledger main has not answered since ")
	begun := time.Now()
	s.types(":archived\r").sees("evt_1")
	s.types("\r").sees("? its effect is unknown: ledger main did not answer", "tries")
	if took := time.Since(begun); took > 20*time.Second { // a lookup has 30
		t.Errorf("the page was there after %v", took)
	}
	s.types("")
	way.still.Unlock()
	s.sees("its effect is applied")
	s.types("\x03").leaves(exitDone)
}
