package bench

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

// fillRedis gives the benchmark a server of its own with the dataset in it, in
// the layout of asynq (internal/rdb/rdb.go: enqueueUniqueCmd, scheduleCmd,
// retryCmd, archiveCmd, markAsCompleteCmd). Commands go straight down one
// connection, since a client that waits for each answer would take minutes.
func (d dataset) fillRedis(b *testing.B) *inspecttest.Server {
	b.Helper()
	server := inspecttest.StartServer(b)
	conn, err := net.Dial(server.Network, server.Addr)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	w := &respWriter{w: bufio.NewWriterSize(conn, 1<<18)}
	sent := make(chan int, 1)
	answered := make(chan error, 1)
	go func() { answered <- drain(conn, sent) }()
	w.command("SADD", "asynq:queues", queue)
	for i := range d.size {
		t := d.task(i)
		w.task(&t)
	}
	if err := w.w.Flush(); err != nil {
		b.Fatal(err)
	}
	sent <- w.n
	// Ends the answers, so that the reader need not know their number while it
	// waits for one.
	if _, err := conn.Write([]byte("QUIT\r\n")); err != nil {
		b.Fatal(err)
	}
	if err := <-answered; err != nil {
		b.Fatalf("filling Redis: %v", err)
	}
	d.checkRedis(b, server)
	return server
}

// checkRedis makes sure that the server holds what the dataset says.
func (d dataset) checkRedis(b *testing.B, server *inspecttest.Server) {
	b.Helper()
	ctx := context.Background()
	client, err := inspect.Open(ctx, server.Options())
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	q, err := client.Queue(ctx, queue)
	if err != nil {
		b.Fatal(err)
	}
	for _, s := range states {
		if q.Count(s) != d.count(s) {
			b.Fatalf("%d %s tasks in Redis, want %d", q.Count(s), s, d.count(s))
		}
	}
}

// drain reads the answers up to the one that ends the connection, and fails on
// the first that is an error.
func drain(conn net.Conn, sent <-chan int) error {
	answers := bufio.NewScanner(conn)
	n := 0
	for answers.Scan() {
		if line := answers.Text(); line != "" && line[0] == '-' {
			return fmt.Errorf("answer %d: %s", n+1, line)
		}
		n++
	}
	if err := answers.Err(); err != nil {
		return err
	}
	if want := <-sent + 1; n != want {
		return fmt.Errorf("%d answers to %d commands", n, want)
	}
	return nil
}

// respWriter writes commands. Errors surface at the flush.
type respWriter struct {
	w       *bufio.Writer
	n       int    // commands written
	text    []byte // of one command, reused
	message []byte // reused
}

func (w *respWriter) command(args ...string) {
	w.n++
	w.text = head(w.text[:0], '*', len(args))
	for _, a := range args {
		w.text = append(head(w.text, '$', len(a)), a...)
		w.text = append(w.text, "\r\n"...)
	}
	_, _ = w.w.Write(w.text)
}

func head(b []byte, kind byte, n int) []byte {
	return append(strconv.AppendInt(append(b, kind), int64(n), 10), "\r\n"...)
}

func (w *respWriter) task(t *task) {
	w.message = t.message(w.message[:0])
	prefix := "asynq:{" + queue + "}:"
	fields := []string{"HSET", prefix + "t:" + t.id, "msg", string(w.message), "state", t.state.String()}
	switch t.state {
	case inspect.StatePending:
		fields = append(fields, "pending_since", strconv.FormatInt(t.score.UnixNano(), 10))
	case inspect.StateCompleted:
		fields = append(fields, "result", `{"ok":true}`)
	}
	if t.uniqueKey != "" {
		fields = append(fields, "unique_key", t.uniqueKey)
		if t.state != inspect.StateCompleted {
			w.command("SET", t.uniqueKey, t.id, "EX", strconv.Itoa(int(24*time.Hour/time.Second)))
		}
	}
	w.command(fields...)
	if t.state == inspect.StatePending {
		w.command("LPUSH", prefix+"pending", t.id)
		return
	}
	w.command("ZADD", prefix+t.state.String(), strconv.FormatInt(t.score.Unix(), 10), t.id)
}
