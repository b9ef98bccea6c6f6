package inspect_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

func TestLeasesReadsAllOfALargeSet(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	refs := s.Fill("default", inspect.StateActive, 5000, nil)
	end := time.Now().Add(time.Minute).Truncate(time.Second)
	s.Client().ZAdd(ctx, "asynq:{default}:lease", redis.Z{Score: float64(end.Unix()), Member: refs[0].ID})
	leases, err := open(t, s).Leases(ctx, "default")
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]time.Time)
	for _, l := range leases {
		found[l.ID] = l.ExpiresAt
	}
	if len(leases) != 5000 || len(found) != 5000 {
		t.Errorf("%d leases of %d tasks", len(leases), len(found))
	}
	if !found[refs[0].ID].Equal(end) {
		t.Errorf("lease ends at %v, want %v", found[refs[0].ID], end)
	}
	for _, r := range refs {
		if found[r.ID].IsZero() {
			t.Errorf("the lease of %v is missed", r)
		}
	}
}

// A worker that raises the scores while they are read hides none of them.
func TestLeasesMissesNoneThatIsExtended(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	refs := s.Fill("default", inspect.StateActive, 3000, nil)
	c := open(t, s)
	stop, stopped := make(chan struct{}), make(chan struct{})
	other := s.Client()
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				end := float64(time.Now().Unix() + int64(i))
				other.ZAddXX(ctx, "asynq:{default}:lease", redis.Z{Score: end, Member: refs[i%len(refs)].ID})
			}
		}
	}()
	for range 20 {
		leases, err := c.Leases(ctx, "default")
		if err != nil || len(leases) != len(refs) {
			t.Errorf("%d leases, error %v", len(leases), err)
		}
	}
	close(stop)
	<-stopped
}

func TestLeasesBearsScoresThatAreNoTimes(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	for i, score := range []string{"inf", "-inf", "1e300", "-1e300", "0", "-62135596800", "1.5"} {
		s.Client().Do(ctx, "zadd", "asynq:{default}:lease", score, fmt.Sprint(i))
	}
	leases, err := open(t, s).Leases(ctx, "default")
	if err != nil || len(leases) != 7 {
		t.Fatalf("%d leases, error %v", len(leases), err)
	}
	for _, l := range leases {
		if _, err := l.ExpiresAt.UTC().MarshalJSON(); err != nil || l.ExpiresAt.IsZero() {
			t.Errorf("lease %+v, error %v", l, err)
		}
	}
	s.Client().Set(ctx, "asynq:{wrong}:lease", "no set", 0)
	if leases, err := open(t, s).Leases(ctx, "wrong"); err != nil || len(leases) != 0 {
		t.Errorf("of another type: %v, error %v", leases, err)
	}
}

func TestGroupsAndSetsAreToldApart(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	var want []string
	for i, name := range hostileNames() {
		s.Fill("default", inspect.StateAggregating, i+1, func(_ int, m *inspecttest.Message) { m.Group = name })
		want = append(want, name)
	}
	slices.Sort(want)
	s.Fill("default", inspect.StateAggregating, 2, func(_ int, m *inspecttest.Message) { m.Group = "unseen" })
	s.Unregister("default", "unseen")
	s.Fill("default", inspect.StateAggregating, 3, func(_ int, m *inspecttest.Message) { m.Group = "staged" })
	set := s.Stage("default", "staged")
	s.Client().ZAdd(ctx, "asynq:{default}:aggregation_sets", redis.Z{Score: 1, Member: "elsewhere"})

	c := open(t, s)
	groups, err := c.Groups(ctx, "default")
	if err != nil || !slices.Equal(groups, want) {
		t.Errorf("%d groups, want %d, error %v", len(groups), len(want), err)
	}
	key := inspect.ParseKey(set, nil)
	sizes, err := c.GroupSizes(ctx, "default", append(hostileNames(), "unseen", "staged", key.Group, "none"))
	if err != nil {
		t.Fatal(err)
	}
	n := len(hostileNames())
	for i := range n {
		if sizes[i] != i+1 {
			t.Errorf("group %.40q has %d tasks, want %d", hostileNames()[i], sizes[i], i+1)
		}
	}
	if rest := sizes[n:]; !slices.Equal(rest, []int{2, 0, 3, 0}) {
		t.Errorf("sizes %v", rest)
	}
	if sets, err := c.AggregationSets(ctx, "default"); err != nil || !slices.Equal(sets, []string{set}) {
		t.Errorf("sets %q, error %v", sets, err)
	}
	if groups, err := c.Groups(ctx, "unheard of"); err != nil || len(groups) != 0 {
		t.Errorf("groups of an unknown queue: %q, error %v", groups, err)
	}
}
