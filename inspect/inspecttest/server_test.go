package inspecttest_test

import (
	"context"
	"testing"

	"github.com/idemctl/idemctl/inspect/inspecttest"
)

func TestMain(m *testing.M) { inspecttest.Main(m) }

func TestStartGivesEveryTestADatabaseOfItsOwn(t *testing.T) {
	ctx := context.Background()
	a, b := inspecttest.Start(t), inspecttest.Start(t)
	if err := a.Client().Set(ctx, "k", "a", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if n := b.Client().DBSize(ctx).Val(); n != 0 {
		t.Errorf("another test's database holds %d keys", n)
	}
}

func TestStartGivesAnEmptyDatabaseAgain(t *testing.T) {
	ctx := context.Background()
	t.Run("first", func(t *testing.T) {
		inspecttest.Start(t).Client().Set(ctx, "k", "v", 0)
	})
	if n := inspecttest.Start(t).Client().DBSize(ctx).Val(); n != 0 {
		t.Errorf("database holds %d keys of an earlier test", n)
	}
}
