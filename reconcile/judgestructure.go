package reconcile

import "github.com/idemctl/idemctl/inspect"

// structureCodes says what the task's own hash shows of a fault in the queue's
// structure. What only the lists around it show is found by the structure pass.
func structureCodes(t inspect.Task) []Code {
	switch t.Defect {
	case inspect.DefectUndecodable:
		return []Code{CodeUndecodable}
	case inspect.DefectResultOnly:
		return []Code{CodeResultOnly}
	default:
		return nil
	}
}

// identityCodes says what is wrong with the task's ID.
func identityCodes(e Evidence) []Code {
	t := e.Task
	var codes []Code
	kept := t.State == inspect.StateArchived || t.State == inspect.StateCompleted
	if kept && ExplicitID(t.ID) {
		// Enqueue refuses an ID whose hash exists, in any state (asynq rdb.go:
		// enqueueCmd).
		codes = append(codes, CodeIDBlocked)
	}
	if t.State == inspect.StateAggregating && e.Rule != nil && len(e.Rule.witnesses()) > 0 && e.Rule.key.TaskID() {
		codes = append(codes, CodeGroupedTaskID)
	}
	return codes
}
