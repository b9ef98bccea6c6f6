package reconcile

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/idemctl/idemctl/inspect"
)

// collision gathers the tasks that seem to share one key, or one content. Its
// members come from the listing; the first of them is found by a second look.
type collision struct {
	members map[inspect.Ref]member
	// count is how many there are: those the listing met, and the first, which it
	// met before it could know.
	count int
}

type member struct {
	task    inspect.Task
	rule    *Bound // nil: none matches
	key     string // "" where there is none
	content content
}

// maxCollisions bounds how many colliding keys, and how many contents, one audit
// follows up.
const maxCollisions = 10_000

// collisions are found by the hash of what their members share.
type collisions map[uint64]*collision

// note adds a member to the collision of the hash, which another task that is
// not known yet has opened.
func (cs collisions) note(hash uint64, rule *Bound, it item) {
	c := cs[hash]
	if c == nil {
		if len(cs) >= maxCollisions {
			return
		}
		c = &collision{members: map[inspect.Ref]member{}, count: 1}
		cs[hash] = c
	}
	if c.add(rule, it) {
		c.count++
	}
}

// collided notes that another task bears the item's key already.
func (r *run) collided(rule *Bound, it item) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.colliding.note(it.hash, rule, it)
}

// alike notes a live task whose content was met before. Where equal content
// gives equal keys, their collision shows it.
func (r *run) alike(rule *Bound, it item) {
	t := it.task
	if r.aim != aimAudit || !t.State.Live() || t.Prev.Live() || t.Defect != inspect.DefectNone || it.hash != 0 && rule.key.OfContent() {
		return
	}
	if hash := r.contents.hash(t); r.contents.add(hash) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.equal.note(hash, rule, it)
	}
}

// add keeps a member, as long as there is room, and says whether it is new.
func (c *collision) add(rule *Bound, it item) bool {
	if _, known := c.members[it.task.Ref]; known {
		return false
	}
	if len(c.members) < MaxTasks {
		m := member{rule: rule, key: it.key, content: contentOf(it.task)}
		it.task.Payload = nil
		m.task = it.task
		c.members[it.task.Ref] = m
	}
	return true
}

// beyond is how many members were seen and not kept.
func (c *collision) beyond() int { return max(0, c.count-len(c.members)) }

// collide finds all members of the keys that seemed to collide and tells the
// collisions that are real and still stand.
func (r *run) collide(ctx context.Context) error {
	if len(r.colliding)+len(r.equal) == 0 {
		return nil
	}
	if err := r.gather(ctx); err != nil {
		return err
	}
	for _, c := range r.colliding {
		if err := r.tellCollision(ctx, c, true); err != nil {
			return err
		}
	}
	for _, c := range r.equal {
		if err := r.tellCollision(ctx, c, false); err != nil {
			return err
		}
	}
	return nil
}

// gather lists the tasks in scope once more for the members that came first.
func (r *run) gather(ctx context.Context) error {
	queues, states := r.reach()
	again := inspect.Listing{
		Lenient: true,
		Queues:  queues, States: states, Plain: true, Passes: 1, PageSize: r.opt.PageSize,
		Want: func(inspect.Ref, inspect.State) bool { return true },
	}
	for page, err := range r.queue.Pages(ctx, again) {
		if err != nil {
			return err
		}
		for _, t := range page {
			if gone(t) || t.Defect != inspect.DefectNone {
				continue
			}
			rule := r.cases.match(t.Type, t.Queue)
			key, problem, hash := r.keyAgain(rule, t)
			if c := r.colliding[hash]; c != nil && problem == "" && hash != 0 {
				c.add(rule, item{task: t, key: key})
			}
			if len(r.equal) > 0 && t.State.Live() {
				if c := r.equal[r.contents.hash(t)]; c != nil {
					c.add(rule, item{task: t, key: key})
				}
			}
		}
		r.progress("colliding", page)
	}
	return ctx.Err()
}

// tellCollision reads the members again and reports each group of them that
// truly shares a key, or a content. With ofKeys they were found by their keys,
// and are twins here only where equal content gives equal keys.
func (r *run) tellCollision(ctx context.Context, c *collision, ofKeys bool) error {
	if len(c.members) < 2 {
		return nil
	}
	members := make([]member, 0, len(c.members))
	for _, m := range c.members {
		members = append(members, m)
	}
	refs := make([]inspect.Ref, len(members))
	for i, m := range members {
		refs[i] = m.task.Ref
	}
	tasks, err := r.queue.Read(ctx, refs)
	if err != nil {
		return err
	}
	now, err := r.queue.Now(ctx)
	if err != nil {
		return err
	}
	keys := map[string][]member{} // by canonical key
	equal := map[content][]member{}
	for i, t := range tasks {
		if gone(t) || t.Defect != inspect.DefectNone {
			continue
		}
		m := members[i]
		m.task = t
		keyed := m.rule != nil && len(m.rule.witnesses()) > 0
		if t.State.Live() && (!ofKeys || keyed && m.rule.key.OfContent()) {
			equal[contentOf(t)] = append(equal[contentOf(t)], m)
		}
		if !ofKeys || !keyed {
			continue
		}
		key, problem := m.rule.keyFor(t)
		if problem != "" {
			continue
		}
		m.key = key
		keys[m.rule.canonical(key)] = append(keys[m.rule.canonical(key)], m)
	}
	for _, group := range keys {
		r.tellShared(group, c.beyond(), now)
		r.tellColliding(group, c.beyond(), now)
	}
	for _, group := range equal {
		r.tellTwins(group, c.beyond(), now)
	}
	return nil
}

// tellShared reports one task ID in two queues whose rules key one source by
// the bare ID.
func (r *run) tellShared(group []member, beyond int, now time.Time) {
	var shared []member
	for _, m := range group {
		if m.rule.key.TaskID() && meets(m, group, func(o member) bool { return o.task.Queue != m.task.Queue && o.rule.key.TaskID() }) {
			shared = append(shared, m)
		}
	}
	r.tellGroup(CodeIDShared, CodeIDShared.Severity(), shared, beyond, now)
}

// tellColliding reports unfinished tasks of one key. Where the key is one ID in
// two queues, id-shared says it.
func (r *run) tellColliding(group []member, beyond int, now time.Time) {
	var colliding []member
	for _, m := range group {
		unfinished := m.task.State.Unfinished()
		other := func(o member) bool {
			return o.task.State.Unfinished() && !(m.rule.key.TaskID() && o.rule.key.TaskID())
		}
		if unfinished && meets(m, group, other) {
			colliding = append(colliding, m)
		}
	}
	r.tellGroup(CodeKeyCollision, CodeKeyCollision.Severity(), colliding, beyond, now)
}

// tellTwins reports live tasks of equal content: in one queue, and unique ones
// in several.
func (r *run) tellTwins(group []member, beyond int, now time.Time) {
	byQueue := map[string][]member{}
	var unique []member
	queues := map[string]bool{}
	for _, m := range group {
		byQueue[m.task.Queue] = append(byQueue[m.task.Queue], m)
		if m.task.UniqueKey != "" {
			unique = append(unique, m)
			queues[m.task.Queue] = true
		}
	}
	for _, twins := range byQueue {
		severity := CodeLockTwin.Severity()
		if b := twins[0].rule; b != nil && b.Class.Natural() {
			severity = SeverityInfo
		}
		r.tellGroup(CodeLockTwin, severity, twins, beyond, now)
	}
	if len(queues) > 1 {
		r.tellGroup(CodeLockCrossQueue, CodeLockCrossQueue.Severity(), unique, beyond, now)
	}
}

// meets says whether m shares a source with another member that passes.
func meets(m member, group []member, pass func(member) bool) bool {
	return slices.ContainsFunc(group, func(o member) bool {
		return o.task.Ref != m.task.Ref && share(m.rule, o.rule) && pass(o)
	})
}

// tellGroup reports a group on its oldest task, if any task of it is in scope.
func (r *run) tellGroup(code Code, severity Severity, group []member, beyond int, now time.Time) {
	if len(group) < 2 || !slices.ContainsFunc(group, func(m member) bool { return r.inScope(m.task) }) {
		return
	}
	slices.SortFunc(group, func(a, b member) int {
		return cmp.Or(
			firstKnown(a.task).Compare(firstKnown(b.task)),
			cmp.Compare(a.task.Queue, b.task.Queue),
			cmp.Compare(a.task.ID, b.task.ID),
		)
	})
	oldest := group[0]
	f := Finding{
		Code: code, Severity: severity, Task: oldest.task, Key: oldest.key,
		Cause: CauseOf(oldest.task), TaskCount: len(group) + beyond, ConfirmedAt: now,
	}
	for _, m := range group {
		f.Tasks = append(f.Tasks, m.task.Ref)
		if !slices.Contains(f.Queues, m.task.Queue) {
			f.Queues = append(f.Queues, m.task.Queue)
		}
	}
	slices.Sort(f.Queues)
	r.publish(oldest.rule, f)
}

// firstKnown is the earliest time that a task bears. When it was enqueued is
// not stored, so this is the best order by age there is.
func firstKnown(t inspect.Task) time.Time {
	first := time.Unix(1<<40, 0)
	for _, at := range []time.Time{t.PendingSince, t.GroupedAt, t.CompletedAt, t.LastFailedAt, t.ArchivedAt, t.NextProcessAt} {
		if !at.IsZero() && at.Before(first) {
			first = at
		}
	}
	return first
}
