package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/idemctl/idemctl/inspect"
)

// job is one run of a variant, in a process of its own.
type job struct {
	Variant  variant
	Redis    string // host:port
	Postgres string // DSN, without a secret
	Tasks    int    // the dataset's size
	Sample   int    // tasks after which naive stops; 0: all
	Profile  string // file for a CPU profile; "": none
}

func (j job) count(s inspect.State) int { return dataset{size: j.Tasks}.count(s) }

// result is what a run took.
type result struct {
	work
	Took time.Duration // from the first connection to the last verdict
	// Peak is the most memory that was ever resident, in bytes; 0 where the
	// system does not tell.
	Peak int
	// cpu of the servers is filled in by whoever has access to them.
	cpu cpu
}

// jobVariable holds the job of a child, as JSON.
const jobVariable = "IDEMCTL_BENCH_JOB"

// run starts a child for the job and waits for its result.
func (j job) run(b *testing.B) result {
	b.Helper()
	spec, err := json.Marshal(j)
	if err != nil {
		b.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.CommandContext(b.Context(), program)
	cmd.Env = append(os.Environ(), jobVariable+"="+string(spec))
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	if err := cmd.Run(); err != nil {
		b.Fatalf("%s: %v\n%s", j.Variant, err, problem.Bytes())
	}
	var r result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		b.Fatalf("%s: %v\n%s", j.Variant, err, out.Bytes())
	}
	r.cpu.client = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return r
}

// serve does the job that the environment names and writes the result to
// standard output. It returns the exit code.
func serve(spec string) int {
	var j job
	err := json.Unmarshal([]byte(spec), &j)
	if err == nil {
		err = j.serve()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func (j job) serve() error {
	if j.Profile != "" {
		f, err := os.Create(filepath.Clean(j.Profile))
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	began := time.Now()
	done, err := j.do(context.Background())
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(result{work: done, Took: time.Since(began), Peak: peakMemory()})
}

// peakMemory is the process's high-water mark of resident memory (Linux: VmHWM);
// 0 elsewhere. Unlike the resource usage that a parent is told of, it does not
// count what the parent held when the child began.
func peakMemory() int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")))
			if err != nil {
				return 0
			}
			return kib << 10
		}
	}
	return 0
}
