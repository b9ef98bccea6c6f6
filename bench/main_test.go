package bench

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

var (
	chosen  settings
	summary report
)

type servers struct{ m *testing.M }

func (s servers) Run() int { return reconciletest.Run(s.m) }

func TestMain(m *testing.M) {
	if spec := os.Getenv(jobVariable); spec != "" {
		os.Exit(serve(spec))
	}
	os.Exit(runAll(m))
}

func runAll(m *testing.M) int {
	var err error
	if chosen, err = readSettings(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	// Rounds are counted here, since those of one variant must not follow one
	// another; a benchmark line is the median of them.
	if err := flag.Set("test.benchtime", "1x"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	code := inspecttest.Run(servers{m})
	_, _ = os.Stdout.WriteString(summary.text())
	return code
}
