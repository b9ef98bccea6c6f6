package inspect

import (
	"context"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// scriptReader reads places through asynq.Inspector, whose List calls run a Lua
// script per page. What the Inspector hides is read beside it by plain commands:
// the IDs and scores of the page, and of each hash the state, pending_since and
// unique_key. IDs that the Inspector kept silent about (a hash that is gone, a
// message that cannot be decoded) and tasks that moved between the reads are
// fetched by the plainReader.
type scriptReader struct {
	client  *Client
	size    *sizer
	plain   *plainReader
	refused bool // scripts, by the ACL: asking again would be in vain
}

// slackPages are read beyond the end that a list or set had when its reading
// began: it may have grown since.
const slackPages = 2

// read walks the place from its far end to the first page, so that a task that
// moves meets the reader again (pages count from the end that workers take from).
// done is false when the Inspector fails: then the place is to be read by plain
// commands, from the start.
func (r *scriptReader) read(ctx context.Context, p place, card int, news func(Task) bool, emit emitFunc) (done bool, err error) {
	if r.refused {
		return false, nil
	}
	top := card + slackPages*r.size.next() // ranks below it are still to be read
	for top > 0 {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		page := scriptPage{place: p, size: r.size.next()}
		page.number = (top + page.size - 1) / page.size
		top = (page.number - 1) * page.size
		read, err := r.page(ctx, &page)
		if err != nil || !read {
			return false, err
		}
		if page.empty() {
			continue
		}
		fresh := page.tasks[:0]
		for _, t := range page.tasks {
			if news(t) {
				fresh = append(fresh, t)
			}
		}
		if err := emit(len(page.members), fresh); err != nil {
			return false, err
		}
	}
	return true, nil
}

// scriptPage is one page of a place, as the Inspector counts pages: from 1 on.
type scriptPage struct {
	place  place
	number int
	size   int

	members []member
	infos   []*asynq.TaskInfo
	tasks   []Task
}

func (s *scriptPage) empty() bool { return len(s.members) == 0 && len(s.infos) == 0 }

// window is the page as LRANGE counts from the tail (internal/rdb/inspect.go:
// listMessages).
func (s *scriptPage) window(pagesAround int) window {
	from := -(s.number + pagesAround) * s.size
	to := -(s.number-1-pagesAround)*s.size - 1
	return window{from: from, to: min(to, -1)}
}

// page reads one page; ok is false when the Inspector failed.
func (r *scriptReader) page(ctx context.Context, page *scriptPage) (ok bool, err error) {
	if page.members, err = r.members(ctx, page); err != nil {
		return false, err
	}
	began := time.Now()
	page.infos, err = r.list(page)
	took := time.Since(began)
	if err != nil {
		r.refused = refused(err)
		return false, ctx.Err()
	}
	if page.empty() {
		return true, nil
	}
	left, strays, err := r.join(ctx, page)
	if err != nil {
		return false, err
	}
	r.size.note(page.tasks, took)
	rest, err := r.plain.fetch(ctx, page.place, page.window(1), left)
	if err != nil {
		return false, err
	}
	again, err := r.plain.readMoved(ctx, page.place, strays)
	page.tasks = append(append(page.tasks, rest...), again...)
	return true, err
}

// members reads the IDs, and the scores of a set, in the page.
func (r *scriptReader) members(ctx context.Context, page *scriptPage) ([]member, error) {
	p, rdb := page.place, r.client.redis
	if p.list() {
		near := page.window(0)
		ids, err := rdb.LRange(ctx, p.key, int64(near.from), int64(near.to)).Result()
		if failure(err) {
			return nil, err
		}
		members := make([]member, len(ids))
		for i, id := range ids {
			members[i].id = id
		}
		return members, nil
	}
	from := int64(page.number-1) * int64(page.size)
	entries, err := rdb.ZRangeWithScores(ctx, p.key, from, from+int64(page.size)-1).Result()
	if failure(err) {
		return nil, err
	}
	return membersOf(entries), nil
}

// list asks the Inspector. It knows no context: the read timeout bounds it.
func (r *scriptReader) list(page *scriptPage) ([]*asynq.TaskInfo, error) {
	i, q := r.client.inspector, page.place.queue
	size, number := asynq.PageSize(page.size), asynq.Page(page.number)
	switch page.place.state {
	case StatePending:
		return i.ListPendingTasks(q, size, number)
	case StateActive:
		return i.ListActiveTasks(q, size, number)
	case StateScheduled:
		return i.ListScheduledTasks(q, size, number)
	case StateRetry:
		return i.ListRetryTasks(q, size, number)
	case StateArchived:
		return i.ListArchivedTasks(q, size, number)
	default:
		return i.ListCompletedTasks(q, size, number)
	}
}

// hiddenFields are the fields of the hash that a TaskInfo does not show.
var hiddenFields = [...]any{"state", "pending_since", "unique_key"}

// hidden is what the pipeline asks for a task beside the Inspector.
type hidden struct {
	fields *redis.SliceCmd
	lease  *redis.FloatCmd
}

func (h hidden) text(field int) string {
	if v := h.fields.Val(); field < len(v) {
		s, _ := v[field].(string)
		return s
	}
	return ""
}

// join makes tasks of what the Inspector showed. It returns the members that it
// did not show or that have to be read again, and the tasks that it showed
// although their ID was not on the page: they came there after the IDs were read.
func (r *scriptReader) join(ctx context.Context, page *scriptPage) (left []member, strays []Ref, err error) {
	shown := make(map[string]*asynq.TaskInfo, len(page.infos))
	for _, info := range page.infos {
		shown[info.ID] = info
	}
	pipe := r.client.redis.Pipeline()
	asked := make([]hidden, len(page.members))
	for i, m := range page.members {
		if shown[m.id] != nil {
			asked[i] = askHidden(ctx, pipe, page.place, m.id)
		}
	}
	if err := exec(ctx, pipe); err != nil {
		return nil, nil, err
	}
	page.tasks = make([]Task, 0, len(page.members))
	for i, m := range page.members {
		info := shown[m.id]
		delete(shown, m.id)
		if info == nil || !asked[i].confirms(page.place, info) {
			left = append(left, m)
			continue
		}
		page.tasks = append(page.tasks, taskOf(page.place, info, m, asked[i]))
	}
	for id := range shown {
		if id != "" { // a blank TaskInfo stands for a hash that is gone
			strays = append(strays, Ref{Queue: page.place.queue, ID: id})
		}
	}
	return left, strays, nil
}

func askHidden(ctx context.Context, pipe redis.Pipeliner, p place, id string) hidden {
	k := keysOf(p.queue)
	args := make([]any, 0, 2+len(hiddenFields))
	args = append(args, "hmget", k.task(id))
	args = append(args, hiddenFields[:]...)
	h := hidden{fields: redis.NewSliceCmd(ctx, args...)}
	_ = pipe.Process(ctx, h.fields)
	if p.state == StateActive {
		h.lease = pipe.ZScore(ctx, k.lease(), id)
	}
	return h
}

// confirms says whether what was read beside belongs to what the Inspector
// showed: the task has not moved since. A grouped task is not confirmed unless
// its hash has a unique key, since only its message would (rdb.go:
// addToGroupUniqueCmd) and the Inspector hides that.
func (h hidden) confirms(p place, info *asynq.TaskInfo) bool {
	return stateOf(h.text(0)) == p.state && (info.Group == "" || h.text(2) != "")
}

func taskOf(p place, info *asynq.TaskInfo, m member, h hidden) Task {
	t := Task{
		Ref: Ref{Queue: p.queue, ID: m.id}, Type: info.Type,
		Payload: info.Payload, Headers: info.Headers,
		State: p.state, Listed: p.state,
		Retried: info.Retried, MaxRetry: info.MaxRetry,
		LastErr: info.LastErr, LastFailedAt: info.LastFailedAt,
		Timeout: info.Timeout, Deadline: info.Deadline,
		Retention: info.Retention, CompletedAt: info.CompletedAt,
		Group: info.Group, ResultSize: len(info.Result),
		PendingSince: unixNanos(h.text(1)), UniqueKey: h.text(2),
	}
	if p.list() {
		if h.lease != nil {
			t.setScore(StateActive, h.lease.Val())
		}
		return t
	}
	t.setScore(p.state, m.score)
	return t
}
