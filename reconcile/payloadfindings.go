package reconcile

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/inspect/payload"
)

// tellPayloads reports what the payloads of unique tasks have shown, type by type.
// That a payload was spelled so is true of its producer also when its task is done
// by now; the tasks that a finding names, and the locks that it counts, are read
// again.
func (r *run) tellPayloads(ctx context.Context) error {
	if r.payloads == nil {
		return nil
	}
	keys := slices.SortedFunc(maps.Keys(r.payloads.cases), func(a, b typeQueue) int {
		return cmp.Or(cmp.Compare(a.queue, b.queue), cmp.Compare(a.taskType, b.taskType))
	})
	for _, key := range keys {
		c := r.payloads.cases[key]
		delete(r.payloads.cases, key) // its sample is needed no longer
		if err := r.tellFaults(ctx, key, c); err != nil {
			return err
		}
		if err := r.tellCorpus(ctx, key, c); err != nil {
			return err
		}
		r.progress("payloads", nil)
	}
	return nil
}

// tellPayload reports one rule of one type. The finding has its count, its tasks,
// its detail and its bytes already.
func (r *run) tellPayload(key typeQueue, rule payload.Rule, f Finding) {
	f.Code = PayloadCode(rule)
	f.Severity = f.Code.Severity()
	f.Task = inspect.Task{Ref: inspect.Ref{Queue: key.queue}, Type: key.taskType}
	f.Queues = []string{key.queue}
	f.ConfirmedAt = r.now()
	r.publish(r.cases.match(key.taskType, key.queue), f)
}

// tellFaults reports the form rules that payloads of the type break.
func (r *run) tellFaults(ctx context.Context, key typeQueue, c *payloadCase) error {
	rules := slices.Sorted(maps.Keys(c.faults))
	var ids []string
	for _, rule := range rules {
		for _, e := range c.faults[rule].examples {
			ids = append(ids, e.id)
		}
	}
	there, err := r.stillThere(ctx, key, ids)
	if err != nil {
		return err
	}
	for _, rule := range rules {
		r.tellPayload(key, rule, c.faults[rule].finding(key, rule, there))
	}
	return nil
}

// finding is what is told of the fault, by examples that are still there if any is.
func (fc *faultCase) finding(key typeQueue, rule payload.Rule, there present) Finding {
	f := Finding{TaskCount: fc.tasks}
	shown := fc.examples
	if left := slices.DeleteFunc(slices.Clone(shown), func(e fault) bool { return !there.has(e.id) }); len(left) > 0 {
		shown = left
	}
	for i, e := range shown[:min(len(shown), faultExamples)] {
		if i == 0 {
			f.Detail = fmt.Sprintf("%s, byte %d of task %q", e.path, e.start, e.id)
			f.Marked = markFault(there[e.id], rule)
		}
		if there.has(e.id) {
			f.Tasks = append(f.Tasks, inspect.Ref{Queue: key.queue, ID: e.id})
		}
	}
	return f
}

// markFault marks the first bytes of the task that break the rule now; nil where
// none do.
func markFault(t inspect.Task, rule payload.Rule) []Marked {
	for _, f := range payload.Faults(t.Payload) {
		if f.Rule == rule {
			return []Marked{{ID: t.ID, Payload: t.Payload, Start: f.Start, End: f.End}}
		}
	}
	return nil
}

// present are the tasks of one queue that are still there, by ID.
type present map[string]inspect.Task

func (p present) has(id string) bool { _, ok := p[id]; return ok }

// stillThere reads the tasks again, and leaves out those that are gone or are of
// another type by now.
func (r *run) stillThere(ctx context.Context, key typeQueue, ids []string) (present, error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	there := present{}
	for part := range slices.Chunk(ids, confirmSize) {
		refs := make([]inspect.Ref, len(part))
		for i, id := range part {
			refs[i] = inspect.Ref{Queue: key.queue, ID: id}
		}
		tasks, err := r.queue.Read(ctx, refs)
		if err != nil {
			return nil, err
		}
		for _, t := range tasks {
			if !gone(t) && t.Defect == inspect.DefectNone && t.Type == key.taskType {
				there[t.ID] = t
			}
		}
	}
	return there, nil
}

// tellCorpus reports what the sampled payloads of the type show together: each
// rule once.
func (r *run) tellCorpus(ctx context.Context, key typeQueue, c *payloadCase) error {
	c.sample.cut(r.payloads.most)
	if len(c.sample.kept) < 2 {
		return nil
	}
	report := c.sample.analyse(key)
	if !c.sample.documents() {
		// Among bare IDs, what looks like another encoding, or another spelling of
		// a number, is another ID.
		report.Findings = slices.DeleteFunc(report.Findings, func(f payload.CorpusFinding) bool {
			return f.Rule == payload.EncodingMix || f.Rule == payload.NumberFormat
		})
	}
	if len(report.Findings) == 0 {
		return nil
	}
	var ids []string
	for _, f := range report.Findings {
		ids = append(ids, f.Examples[0].ID, f.Examples[1].ID)
	}
	there, err := r.stillThere(ctx, key, ids)
	if err != nil {
		return err
	}
	for _, group := range byRule(report.Findings) {
		first := group[0]
		p, err := r.price(ctx, key, c, clustersOf(&report, first.Rule))
		if err != nil {
			return err
		}
		f := Finding{TaskCount: first.Count, Marked: markDifference(&first)}
		for _, e := range first.Examples {
			if there.has(e.ID) {
				f.Tasks = append(f.Tasks, inspect.Ref{Queue: key.queue, ID: e.ID})
			}
		}
		words := []string{pathWords(group), differenceWords(&first), p.words(), c.sampleWords()}
		f.Detail = strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), "; ")
		r.tellPayload(key, first.Rule, f)
	}
	return nil
}

// markDifference marks the bytes in which the two examples of a finding differ.
func markDifference(f *payload.CorpusFinding) []Marked {
	a, b := f.Examples[0], f.Examples[1]
	if b.ID == "" {
		return nil
	}
	d := payload.Diff(a.Payload, b.Payload)
	path, at, _, _ := firstDifference(f, &d)
	if path == "" {
		return nil
	}
	return []Marked{
		{ID: a.ID, Payload: a.Payload, Start: at[0].Start, End: at[0].End},
		{ID: b.ID, Payload: b.Payload, Start: at[1].Start, End: at[1].End},
	}
}

// analyse applies the corpus rules to the sample.
func (s *sample) analyse(key typeQueue) payload.GroupReport {
	corpus := payload.Corpus{Sampled: !s.whole()}
	for _, one := range s.kept {
		corpus.Add(payload.Entry{ID: one.id, Queue: key.queue, Type: key.taskType, Payload: one.payload})
	}
	return corpus.Result()[0]
}

// byRule splits findings, which are sorted by rule, into those of each rule.
func byRule(findings []payload.CorpusFinding) [][]payload.CorpusFinding {
	var groups [][]payload.CorpusFinding
	for i, f := range findings {
		if i == 0 || f.Rule != findings[i-1].Rule {
			groups = append(groups, nil)
		}
		last := len(groups) - 1
		groups[last] = append(groups[last], f)
	}
	return groups
}

// clustersOf are the tasks that are the same work by what the rule says.
func clustersOf(report *payload.GroupReport, rule payload.Rule) [][]string {
	switch rule {
	case payload.VolatileField:
		return report.Clusters
	case payload.CanonicalCollision:
		return report.Collisions
	default:
		return nil
	}
}

// price is what unlike bytes of the same work cost now.
type price struct {
	asked int // tasks of such works that were looked at
	works int // that several live locks guard
	locks int // that guard them
	twins int // live tasks beside another one of the same work
	cut   bool
}

// pricedTasks bounds how many tasks are read to say what one finding costs.
const pricedTasks = 1000

// price reads the tasks of the clusters, as many as the bound allows, and their
// locks.
func (r *run) price(ctx context.Context, key typeQueue, c *payloadCase, clusters [][]string) (price, error) {
	var p price
	var ids []string
	for i, cluster := range clusters {
		if p.cut = len(ids)+len(cluster) > pricedTasks && i > 0; p.cut {
			clusters = clusters[:i]
			break
		}
		ids = append(ids, cluster[:min(len(cluster), pricedTasks)]...)
	}
	if len(ids) == 0 {
		return p, nil
	}
	p.asked = len(ids)
	there, err := r.stillThere(ctx, key, ids)
	if err != nil {
		return p, err
	}
	held, err := r.heldLocks(ctx, there, c.sample.payloads())
	if err != nil {
		return p, err
	}
	for _, cluster := range clusters {
		live, locks := 0, 0
		for _, id := range cluster {
			if isHeld, isLive := held[id]; isLive {
				live++
				if isHeld {
					locks++
				}
			}
		}
		p.twins += max(0, live-1)
		if locks > 1 {
			p.works++
			p.locks += locks
		}
	}
	return p, nil
}

// payloads are the sampled payloads by task ID.
func (s *sample) payloads() map[string][]byte {
	all := make(map[string][]byte, len(s.kept))
	for _, one := range s.kept {
		all[one.id] = one.payload
	}
	return all
}

// heldLocks says of every task that is live with the payload that was sampled,
// whether it holds its lock.
func (r *run) heldLocks(ctx context.Context, there present, payloads map[string][]byte) (map[string]bool, error) {
	var tasks []inspect.Task
	var keys []string
	for _, t := range there {
		if t.State.Live() && t.UniqueKey != "" && bytes.Equal(t.Payload, payloads[t.ID]) {
			tasks = append(tasks, t)
			keys = append(keys, t.UniqueKey)
		}
	}
	held := map[string]bool{}
	if len(keys) == 0 {
		return held, nil
	}
	locks, err := r.queue.Locks(ctx, keys)
	if err != nil {
		return nil, err
	}
	for i, l := range locks {
		held[tasks[i].ID] = lockOf(tasks[i], l).State == LockHeld
	}
	return held, nil
}
