package tied_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/idemctl/idemctl/internal/tied"
)

// parentEnv makes the test binary a parent that ties a program and waits.
const parentEnv = "TIED_TEST_PARENT"

func TestMain(m *testing.M) {
	if os.Getenv(parentEnv) == "" {
		os.Exit(m.Run())
	}
	cmd := sleeper()
	if _, err := tied.Start(cmd, syscall.SIGKILL); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(cmd.Process.Pid) //nolint:forbidigo // it speaks to its parent
	select {}
}

func sleeper() *exec.Cmd { return exec.Command("sleep", "600") }

// start ties a sleeper that is stopped after the test.
func start(t *testing.T) (*exec.Cmd, <-chan struct{}) {
	t.Helper()
	cmd := sleeper()
	done, err := tied.Start(cmd, syscall.SIGKILL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-done
	})
	return cmd, done
}

// outlives fails where the program ends within a moment: the signal of a thread
// that ends is there at once.
func outlives(t *testing.T, done <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-done:
		t.Fatalf("the program ended with %s", what)
	case <-time.After(50 * time.Millisecond):
	}
}

// The main thread never ends, so one program alone could be lucky.
func TestTheEndOfAThreadEndsNoProgram(t *testing.T) {
	var programs []<-chan struct{}
	for range 10 {
		cmd := sleeper()
		var done <-chan struct{}
		var err error
		started := make(chan struct{})
		go func() {
			defer close(started)
			runtime.LockOSThread() // this thread ends with the goroutine
			done, err = tied.Start(cmd, syscall.SIGKILL)
		}()
		if <-started; err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			<-done
		})
		programs = append(programs, done)
	}
	for _, done := range programs {
		outlives(t, done, "the thread that asked for it")
	}
}

func TestTheEndOfOneProgramEndsNoOther(t *testing.T) {
	var others []<-chan struct{}
	for range 20 {
		_, before := start(t)
		cmd, done := start(t)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-done
		_, after := start(t)
		others = append(others, before, after)
	}
	for _, done := range others {
		outlives(t, done, "another program")
	}
}

func TestAKilledParentLeavesNoProgramBehind(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(self)
	parent.Env = append(os.Environ(), parentEnv+"=1")
	parent.Stderr = os.Stderr
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	done, err := tied.Start(parent, syscall.SIGKILL)
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if !running(pid) {
		t.Fatal("the program did not run")
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-done
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if !running(pid) {
			return
		}
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	t.Error("the program outlived its parent")
}

// running says whether the process runs: one that ended may wait to be reaped by
// whoever adopted it (proc(5), the state in /proc/PID/stat).
func running(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

func TestStartSaysWhyAProgramDoesNotStart(t *testing.T) {
	if _, err := tied.Start(exec.Command("/no/such/program"), syscall.SIGKILL); err == nil {
		t.Error("a program that does not exist was started")
	}
}
