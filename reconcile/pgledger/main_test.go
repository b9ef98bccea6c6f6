package pgledger_test

import (
	"testing"

	"github.com/idemctl/idemctl/reconcile/reconciletest"
)

func TestMain(m *testing.M) { reconciletest.Main(m) }
