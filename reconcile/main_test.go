package reconcile_test

import (
	"os"
	"testing"

	"github.com/idemctl/idemctl/inspect/inspecttest"
	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

type servers struct{ m *testing.M }

func (s servers) Run() int { return reconciletest.Run(s.m) }

func TestMain(m *testing.M) { os.Exit(inspecttest.Run(servers{m})) }
