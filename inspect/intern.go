package inspect

import "sync"

// internLimit bounds what an interner keeps, against types that are made up per
// task.
const internLimit = 4096

// interner hands out one string for equal bytes: queues hold millions of tasks
// of a few types. It is safe for concurrent use.
type interner struct {
	mu    sync.RWMutex
	known map[string]string
}

func (n *interner) intern(b []byte) string {
	n.mu.RLock()
	s, ok := n.known[string(b)]
	n.mu.RUnlock()
	if ok {
		return s
	}
	s = string(b)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.known == nil {
		n.known = make(map[string]string)
	}
	if len(n.known) < internLimit {
		n.known[s] = s
	}
	return s
}
