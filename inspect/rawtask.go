package inspect

import "maps"

// RawOf is a task's hash as somebody kept it, such as a journal: nothing is asked
// of Redis, so that neither its place nor who holds its lock is known. Fields is
// copied, its values are not; without any there is no hash.
func RawOf(r Ref, fields map[string][]byte) Raw {
	raw := Raw{Ref: r}
	if len(fields) == 0 {
		return raw
	}
	raw.Fields = maps.Clone(fields)
	raw.State = stateOf(string(fields["state"]))
	raw.Lock.Key = raw.Task().UniqueKey
	return raw
}

// Task is what the hash and its place say of the task, as Read gives it. The
// payload is a part of the field msg, not a copy.
func (r Raw) Task() Task {
	t := Task{Ref: r.Ref}
	msg, written := r.Fields["msg"]
	result := len(r.Fields["result"])
	switch {
	case len(r.Fields) == 0:
		t.Defect = DefectDangling
		return t
	case len(msg) > 0:
		new(interner).fill(&t, msg)
	case !written && r.Fields["state"] == nil && result > 0:
		t.Defect = DefectResultOnly
	default:
		t.Defect = DefectUndecodable
	}
	t.State = stateOf(string(r.Fields["state"]))
	t.PendingSince = unixNanos(string(r.Fields["pending_since"]))
	if key := string(r.Fields["unique_key"]); key != "" {
		t.UniqueKey = key
	}
	if t.Group == "" {
		t.Group = string(r.Fields["group"])
	}
	t.ResultSize = result
	t.setScore(t.State, r.Place.Score)
	return t
}
