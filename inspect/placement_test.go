package inspect_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/inspecttest"
)

// ids reads all that IDs yields: how often each ID came in each state.
func ids(t *testing.T, c *inspect.Client, queues []string, states []inspect.State) map[inspect.Listed]int {
	t.Helper()
	got := make(map[inspect.Listed]int)
	for page, err := range c.IDs(context.Background(), queues, states) {
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 || len(page) > 4000 {
			t.Errorf("a page of %d IDs", len(page))
		}
		for _, l := range page {
			got[l]++
		}
	}
	return got
}

func TestIDsListsEveryState(t *testing.T) {
	s := inspecttest.Start(t)
	want := make(map[inspect.Listed]bool)
	for state, ref := range everyState(s) {
		want[inspect.Listed{Ref: ref, State: state}] = true
	}
	staged := s.Make(inspecttest.Spec{Outcome: inspecttest.Aggregating, Queue: "staged"})[0]
	s.Stage("staged", "g")
	want[inspect.Listed{Ref: staged, State: inspect.StateAggregating}] = true
	dangling := s.Make(inspecttest.Spec{Queue: "staged"})[0]
	s.Dangle(dangling)
	want[inspect.Listed{Ref: dangling, State: inspect.StatePending}] = true

	c := open(t, s)
	got := ids(t, c, nil, nil)
	for l := range want {
		if got[l] == 0 {
			t.Errorf("missed %+v", l)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d IDs, want %d", len(got), len(want))
	}
	some := ids(t, c, []string{"staged", "unheard of"}, []inspect.State{inspect.StatePending})
	if !maps.Equal(some, map[inspect.Listed]int{{Ref: dangling, State: inspect.StatePending}: 1}) {
		t.Errorf("of one queue and state: %v", some)
	}
}

// Residue is of queues that asynq no longer knows.
func TestIDsReadsQueuesThatAsynqDoesNotKnow(t *testing.T) {
	s := inspecttest.Start(t)
	ref := s.Make(inspecttest.Spec{Queue: "left"})[0]
	s.Client().SRem(context.Background(), "asynq:queues", "left")
	c := open(t, s)
	if got := ids(t, c, nil, nil); len(got) != 0 {
		t.Errorf("all queues: %v", got)
	}
	if got := ids(t, c, []string{"left"}, nil); got[inspect.Listed{Ref: ref, State: inspect.StatePending}] != 1 {
		t.Errorf("by name: %v", got)
	}
}

func TestIDsReadsLongListsInPages(t *testing.T) {
	s := inspecttest.Start(t)
	s.Fill("default", inspect.StatePending, 9000, nil)
	s.Fill("default", inspect.StateActive, 9000, nil)
	s.Fill("default", inspect.StateArchived, 9000, nil)
	c := open(t, s)
	if got := ids(t, c, nil, nil); len(got) != 27_000 {
		t.Errorf("%d IDs", len(got))
	}
	pages := 0
	for _, err := range c.IDs(context.Background(), nil, nil) {
		if err != nil {
			t.Error(err)
		}
		pages++
		break
	}
	if pages != 1 {
		t.Errorf("%d pages", pages)
	}
}

func TestIDsMissesNoTaskOfAMovingQueue(t *testing.T) {
	s := inspecttest.Start(t)
	refs := enqueueMoving(t, s, 2000)
	o := s.Options()
	o.Rate = 4000
	c := openWith(t, o)
	drainSlowly(s, time.Hour) // what goes back to pending meanwhile can be missed
	seen := make(map[inspect.Ref]bool)
	for l := range ids(t, c, nil, nil) {
		seen[l.Ref] = true
	}
	for _, ref := range refs {
		if !seen[ref] {
			t.Errorf("missed %v", ref)
		}
	}
}

func TestPlacementsSaysWhichSetsHoldATask(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	refs := s.Make(
		inspecttest.Spec{Outcome: inspecttest.Scheduled}, inspecttest.Spec{Outcome: inspecttest.Retry},
		inspecttest.Spec{Outcome: inspecttest.Archived}, inspecttest.Spec{Outcome: inspecttest.Completed},
		inspecttest.Spec{Outcome: inspecttest.Aggregating}, inspecttest.Spec{Outcome: inspecttest.Active},
	)
	pending := s.Make(inspecttest.Spec{Outcome: inspecttest.Pending})[0]
	refs = append(refs, pending, inspect.Ref{Queue: "default", ID: "never"}, inspect.Ref{Queue: "other", ID: refs[0].ID})
	s.Client().ZAdd(ctx, "asynq:{default}:archived", redis.Z{Score: 1, Member: refs[1].ID})
	s.Client().ZAdd(ctx, "asynq:{default}:lease", redis.Z{Score: 1_700_000_000, Member: refs[3].ID})
	groups := make([]string, len(refs))
	groups[4], groups[0] = "g", "g"

	c := open(t, s)
	got, err := c.Placements(ctx, refs, groups)
	if err != nil {
		t.Fatal(err)
	}
	states := func(s ...inspect.State) []inspect.State { return s }
	for i, want := range [][]inspect.State{
		states(inspect.StateScheduled), states(inspect.StateRetry, inspect.StateArchived), states(inspect.StateArchived),
		states(inspect.StateCompleted), nil, nil, nil, nil, nil,
	} {
		if !slices.Equal(got[i].In, want) {
			t.Errorf("task %d is in %v, want %v", i, got[i].In, want)
		}
		if leased := i == 3 || i == 5; got[i].Lease.IsZero() == leased {
			t.Errorf("task %d: lease %v", i, got[i].Lease)
		}
		if got[i].Grouped != (i == 4) {
			t.Errorf("task %d: grouped %v", i, got[i].Grouped)
		}
	}
	if !got[3].Lease.Equal(time.Unix(1_700_000_000, 0)) {
		t.Errorf("lease %v", got[3].Lease)
	}
	if bare, err := c.Placements(ctx, refs, nil); err != nil || bare[4].Grouped || len(bare[1].In) != 2 {
		t.Errorf("without groups: %+v, error %v", bare, err)
	}
	if _, err := c.Placements(ctx, refs, groups[:2]); err == nil {
		t.Error("two groups for nine tasks are accepted")
	}
}

func TestPlacementsAnswersInOrderAcrossPipelines(t *testing.T) {
	s := inspecttest.Start(t)
	archived := s.Fill("default", inspect.StateArchived, 1200, nil)
	retry := s.Fill("default", inspect.StateRetry, 1200, nil)
	var refs []inspect.Ref
	for i := range archived {
		refs = append(refs, archived[i], retry[i])
	}
	got, err := open(t, s).Placements(context.Background(), refs, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range got {
		want := inspect.StateArchived
		if i%2 == 1 {
			want = inspect.StateRetry
		}
		if !slices.Equal(p.In, []inspect.State{want}) {
			t.Fatalf("task %d is in %v, want %v", i, p.In, want)
		}
	}
}

// Hostile names are looked up like others, and keys of another type hold nothing.
func TestPlacementsBearsHostileNamesAndTypes(t *testing.T) {
	ctx := context.Background()
	s := inspecttest.Start(t)
	var refs []inspect.Ref
	var groups []string
	for i, name := range hostileNames() {
		ref := inspect.Ref{Queue: fmt.Sprintf("q%d%.20s", i, name), ID: "id" + name}
		s.Fill(ref.Queue, inspect.StateScheduled, 1, func(_ int, m *inspecttest.Message) { m.ID = ref.ID })
		refs, groups = append(refs, ref), append(groups, name)
	}
	s.Client().Set(ctx, "asynq:{wrong}:retry", "no set", 0)
	refs, groups = append(refs, inspect.Ref{Queue: "wrong", ID: "x"}), append(groups, "")
	got, err := open(t, s).Placements(ctx, refs, groups)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range got {
		if want := i < len(got)-1; (len(p.In) == 1) != want {
			t.Errorf("task %.40q is in %v", refs[i].ID, p.In)
		}
	}
}

// hostileNames are for tasks, groups and queues.
func hostileNames() []string {
	return []string{
		"}", "{", "}:", "{}", "}:t:x", "*", "[a-z]?", `\`, "\n", "\x00", "\xff\xfe", "a\r\n*1\r\n$4\r\nPING\r\n",
		" ", ":", "%s%d%n", "\x1b[2J", string(make([]byte, 1<<20)),
	}
}

// lookForDefects calls everything that looks into a queue's keys.
func lookForDefects(t *testing.T, c *inspect.Client, want int) {
	t.Helper()
	ctx := context.Background()
	var refs []inspect.Ref
	for l := range ids(t, c, nil, nil) {
		refs = append(refs, l.Ref)
	}
	if len(refs) != want {
		t.Errorf("%d IDs, want %d", len(refs), want)
	}
	tasks := 0
	for _, k := range sweep(t, c, inspect.Sweep{}) {
		if k.Kind == inspect.KeyTask {
			tasks++
		}
	}
	if tasks != want {
		t.Errorf("the sweep finds %d tasks, want %d", tasks, want)
	}
	if got, err := c.Placements(ctx, refs, nil); err != nil || len(got) != len(refs) {
		t.Errorf("%d placements, error %v", len(got), err)
	}
	if got, err := c.Raw(ctx, refs); err != nil || len(got) != len(refs) || got[0].Fields == nil {
		t.Errorf("%d raw tasks, error %v", len(got), err)
	}
	queues, err := c.Queues(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range queues {
		if _, err := c.Leases(ctx, q); err != nil {
			t.Error(err)
		}
		groups, err := c.Groups(ctx, q)
		if err != nil {
			t.Error(err)
		}
		if _, err := c.GroupSizes(ctx, q, groups); err != nil {
			t.Error(err)
		}
		if _, err := c.AggregationSets(ctx, q); err != nil {
			t.Error(err)
		}
	}
}

func TestReadOnlyUserMayLookForDefects(t *testing.T) {
	s := inspecttest.Start(t)
	want := everyState(s)
	lookForDefects(t, open(t, s.AddUser("bare", "pw", "~asynq:* -@all +@read +select")), len(want))
}

func TestLookingForDefectsSendsReadCommandsOnly(t *testing.T) {
	s := inspecttest.StartServer(t)
	want := everyState(s)
	c := open(t, s.AddUser("reader", "pw", "~* &* +@all"))
	watched := watch(t, s, "reader", func() { lookForDefects(t, c, len(want)) })
	if len(watched) == 0 {
		t.Fatal("no command was seen")
	}
	allowed := strings.Fields("ping hello select client|setname smembers sscan zscan scan llen lrange zcard zrange zscore hgetall hget get pttl")
	for name := range watched {
		if !slices.Contains(allowed, name) {
			t.Errorf("sent %s", name)
		}
	}
}
