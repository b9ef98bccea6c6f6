package reconcile_test

import (
	"os"
	"testing"

	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

type servers struct{ m *testing.M }

func (s servers) Run() int { return reconciletest.Run(s.m) }

// The test binary is its own operator process: what it is to do comes in the
// environment.
func TestMain(m *testing.M) {
	if spec := os.Getenv(operatorEnv); spec != "" {
		os.Exit(operate(spec))
	}
	os.Exit(inspecttest.Run(servers{m}))
}
