package journal

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// The test binary is its own child process: the role comes in the environment.
const (
	roleEnv = "JOURNAL_TEST_ROLE"
	pathEnv = "JOURNAL_TEST_PATH"
)

var roles = map[string]func(path string) error{
	"write": writeForever,
	"hold":  holdUntilTold,
	"turns": writeInTurns,
}

func TestMain(m *testing.M) {
	if role := roles[os.Getenv(roleEnv)]; role != nil {
		if err := role(os.Getenv(pathEnv)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child is a process in a role. It ends when its standard input does, so none
// outlives the tests.
type child struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
	errors bytes.Buffer
}

func startChild(t testing.TB, role, path string) *child {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &child{cmd: exec.Command(self)}
	c.cmd.Env = append(os.Environ(), roleEnv+"="+role, pathEnv+"="+path)
	c.cmd.Stderr = &c.errors
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewScanner(out)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.in.Close() })
	return c
}

// line waits for one line of the child's output.
func (c *child) line(t testing.TB) string {
	t.Helper()
	if !c.out.Scan() {
		err := c.cmd.Wait()
		t.Fatalf("the child ended without a line: %v\n%s", err, c.errors.Bytes())
	}
	return c.out.Text()
}

// finish ends the child's input and waits for it to end well.
func (c *child) finish(t testing.TB) {
	t.Helper()
	c.in.Close()
	for c.out.Scan() {
		continue
	}
	if err := c.cmd.Wait(); err != nil {
		t.Fatalf("the child failed: %v\n%s", err, c.errors.Bytes())
	}
}

// whenInputEnds closes the channel it returns when the parent goes or says so.
func whenInputEnds() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(done)
	}()
	return done
}

func testOptions() Options {
	return Options{Operator: "ann", Host: "host-1", Command: "idemctl requeue", Wait: time.Minute}
}

func mustOpen(t testing.TB, path string) *Journal {
	t.Helper()
	j, err := Open(t.Context(), path, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func mustBegin(t testing.TB, j *Journal) string {
	t.Helper()
	id, err := j.Begin(Run{Context: "prod", Command: "idemctl requeue -q default", Reason: "deploy", PlanDigest: "sha256:1"})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// intent has a task whose bytes follow from its item, so that another process can
// say what they must be.
func intent(item string, payload int) Record {
	return Record{
		Item: item, Change: ChangeRequeue, Queue: "default", TaskID: "id-" + item,
		Evidence: []byte(`{"state":"archived","retried":25}`), Task: imageOf(item, payload),
	}
}

func imageOf(item string, payload int) *TaskImage {
	score := 1732972800.5
	msg := make([]byte, payload)
	source := rand.NewChaCha8([32]byte([]byte(fmt.Sprintf("%032s", item[:min(len(item), 32)]))))
	_, _ = source.Read(msg)
	return &TaskImage{
		Key:    "asynq:{default}:t:id-" + item,
		Fields: []Field{{"msg", string(msg)}, {"state", "archived"}},
		Places: []Place{{"asynq:{default}:archived", &score}},
	}
}

// readAll is what Read yields: records, and errors.
func readAll(t testing.TB, path string) (records []Record, errs []error) {
	t.Helper()
	for r, err := range Read(path) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		records = append(records, r)
	}
	return records, errs
}

// readWhole is readAll of a file with nothing wrong.
func readWhole(t testing.TB, path string) []Record {
	t.Helper()
	records, errs := readAll(t, path)
	if len(errs) > 0 {
		t.Fatalf("reading the journal: %v", errs)
	}
	return records
}

func items(records []Record, kind Kind) string {
	var names []string
	for _, r := range records {
		if r.Kind == kind {
			names = append(names, r.Item)
		}
	}
	return strings.Join(names, " ")
}
