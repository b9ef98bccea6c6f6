package inspect_test

import (
	"testing"

	"github.com/idemctl/idemctl/inspect"
)

func TestParseKeyTellsAllOfAsynqsKeys(t *testing.T) {
	const sum = "d41d8cd98f00b204e9800998ecf8427e"
	for name, want := range map[string]inspect.Key{
		"asynq:{q}:t:id":                     {Kind: inspect.KeyTask, Queue: "q", ID: "id"},
		"asynq:{q}:t:a:b":                    {Kind: inspect.KeyTask, Queue: "q", ID: "a:b"},
		"asynq:{q}:t:":                       {Kind: inspect.KeyTask, Queue: "q"},
		"asynq:{q}:unique:mail:" + sum:       {Kind: inspect.KeyLock, Queue: "q", Type: "mail", Sum: sum},
		"asynq:{q}:unique:mail:send:" + sum:  {Kind: inspect.KeyLock, Queue: "q", Type: "mail:send", Sum: sum},
		"asynq:{q}:unique:mail:":             {Kind: inspect.KeyLock, Queue: "q", Type: "mail"},
		"asynq:{q}:unique:mail:send:":        {Kind: inspect.KeyLock, Queue: "q", Type: "mail:send"},
		"asynq:{q}:unique::" + sum:           {Kind: inspect.KeyLock, Queue: "q", Sum: sum},
		"asynq:{q}:unique:mail:send":         {Queue: "q"},
		"asynq:{q}:unique:" + sum:            {Queue: "q"},
		"asynq:{q}:g:eu":                     {Kind: inspect.KeyGroup, Queue: "q", Group: "eu"},
		"asynq:{q}:g:eu:0191e0b4-0000":       {Kind: inspect.KeyGroup, Queue: "q", Group: "eu:0191e0b4-0000"},
		"asynq:{q}:pending":                  {Kind: inspect.KeyPlace, Queue: "q", State: inspect.StatePending},
		"asynq:{q}:active":                   {Kind: inspect.KeyPlace, Queue: "q", State: inspect.StateActive},
		"asynq:{q}:scheduled":                {Kind: inspect.KeyPlace, Queue: "q", State: inspect.StateScheduled},
		"asynq:{q}:retry":                    {Kind: inspect.KeyPlace, Queue: "q", State: inspect.StateRetry},
		"asynq:{q}:archived":                 {Kind: inspect.KeyPlace, Queue: "q", State: inspect.StateArchived},
		"asynq:{q}:completed":                {Kind: inspect.KeyPlace, Queue: "q", State: inspect.StateCompleted},
		"asynq:{q}:aggregating":              {Queue: "q"},
		"asynq:{q}:unknown":                  {Queue: "q"},
		"asynq:{q}:lease":                    {Kind: inspect.KeyLease, Queue: "q"},
		"asynq:{q}:groups":                   {Kind: inspect.KeyGroups, Queue: "q"},
		"asynq:{q}:aggregation_sets":         {Kind: inspect.KeyAggregationSets, Queue: "q"},
		"asynq:{q}:paused":                   {Kind: inspect.KeyPaused, Queue: "q"},
		"asynq:{q}:processed":                {Kind: inspect.KeyCounter, Queue: "q"},
		"asynq:{q}:failed":                   {Kind: inspect.KeyCounter, Queue: "q"},
		"asynq:{q}:processed:2026-11-30":     {Kind: inspect.KeyCounter, Queue: "q"},
		"asynq:{q}:failed:2026-11-30":        {Kind: inspect.KeyCounter, Queue: "q"},
		"asynq:{q}:failed:yesterday":         {Queue: "q"},
		"asynq:{q}:pending:more":             {Queue: "q"},
		"asynq:{}:pending":                   {Kind: inspect.KeyPlace, State: inspect.StatePending},
		"asynq:{q\x00\n*}:t:\xff":            {Kind: inspect.KeyTask, Queue: "q\x00\n*", ID: "\xff"},
		"asynq:{q}":                          {},
		"asynq:{q":                           {},
		"asynq:queues":                       {},
		"asynq:servers:{host:1:id}":          {},
		"other:{q}:t:id":                     {},
		"":                                   {},
		"asynq:{a}:b}:pending":               {Kind: inspect.KeyPlace, Queue: "a}:b", State: inspect.StatePending},
		"asynq:{a}:t:x}:pending":             {Kind: inspect.KeyTask, Queue: "a", ID: "x}:pending"},
		"asynq:{a}:b}:c":                     {Queue: "a"},
		"asynq:{a}:unique:b}:unique:" + sum:  {Kind: inspect.KeyLock, Queue: "a", Type: "b}:unique", Sum: sum},
		"asynq:{a}}:t:b":                     {Kind: inspect.KeyTask, Queue: "a}", ID: "b"},
		"asynq:{asynq:{a}:t:b}:t:c":          {Kind: inspect.KeyTask, Queue: "asynq:{a", ID: "b}:t:c"},
		"asynq:{a}:unique:t:b}:lease":        {Kind: inspect.KeyLease, Queue: "a}:unique:t:b"},
		"asynq:{a}:processed:b}:t:c}:paused": {Kind: inspect.KeyTask, Queue: "a}:processed:b", ID: "c}:paused"},
	} {
		want.Name = name
		if got := inspect.ParseKey(name, nil); got != want {
			t.Errorf("%q is %+v, want %+v", name, got, want)
		}
	}
}

func TestParseKeyGoesByTheKnownQueues(t *testing.T) {
	const name = "asynq:{a}:t:b}:pending"
	task := inspect.Key{Kind: inspect.KeyTask, Queue: "a", ID: "b}:pending", Name: name}
	place := inspect.Key{Kind: inspect.KeyPlace, Queue: "a}:t:b", State: inspect.StatePending, Name: name}
	for _, c := range []struct {
		known []string
		want  inspect.Key
	}{
		{nil, task},
		{[]string{"other", "a}"}, task},
		{[]string{"a"}, task},
		{[]string{"a}:t:b"}, place},
		{[]string{"a}:t:b", "a}:t:b", "b"}, place},
		// Nobody can say whose it is.
		{[]string{"a}:t:b", "a"}, inspect.Key{Name: name}},
	} {
		if got := inspect.ParseKey(name, c.known); got != c.want {
			t.Errorf("with queues %q known: %+v, want %+v", c.known, got, c.want)
		}
	}
}

// A known queue settles its keys, whatever it and its tasks are called.
func FuzzParseKeyFindsTheKnownQueue(f *testing.F) {
	f.Add("default", "0191e0b4", "mail:send")
	f.Add("a}:t:b", "c}:pending", "}:unique:")
	f.Add("a}:unique:b", "\x00\n}", "}:")
	f.Add("{asynq:{", "}:}:}:", "t:t:t:")
	f.Add("", "", "")
	f.Fuzz(func(t *testing.T, queue, id, taskType string) {
		prefix := "asynq:{" + queue + "}:"
		lock := inspect.UniqueKey(queue, taskType, []byte(id))
		for name, want := range map[string]inspect.Key{
			prefix + "t:" + id: {Kind: inspect.KeyTask, ID: id},
			prefix + "g:" + id: {Kind: inspect.KeyGroup, Group: id},
			prefix + "pending": {Kind: inspect.KeyPlace, State: inspect.StatePending},
			prefix + "lease":   {Kind: inspect.KeyLease},
			lock:               {Kind: inspect.KeyLock, Type: taskType, Sum: lock[len(lock)-32:]},
			prefix + "failed":  {Kind: inspect.KeyCounter},
		} {
			want.Queue, want.Name = queue, name
			if got := inspect.ParseKey(name, []string{"elsewhere", queue}); got != want {
				t.Errorf("%q of queue %q is %+v", name, queue, got)
			}
		}
		inspect.ParseKey(id, nil)
		inspect.ParseKey(prefix+id, []string{taskType, queue, id})
	})
}
