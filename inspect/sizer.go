package inspect

import "time"

// A page is kept small for two reasons: a Lua script keeps everybody else
// waiting, about 6 µs for each task it reads; and messages may be large, and a
// page is held in memory whole.
const (
	pageBytes    = 4 << 20
	firstPage    = 64
	smallestPage = 16
	slowScript   = 3 * time.Millisecond
)

// sizer says how many tasks to ask for next. It starts small, doubles up to its
// limit while pages are light and quick, and shrinks when they are not.
type sizer struct {
	limit   int
	size    int
	perTask int // bytes, of the last page
}

func newSizer(limit int) *sizer {
	return &sizer{limit: limit, size: min(firstPage, limit)}
}

func (s *sizer) next() int {
	if s.perTask > 0 {
		return max(1, min(s.size, pageBytes/s.perTask))
	}
	return s.size
}

// note takes a page into account, and the time of the script that read it: 0
// for plain commands, which let others in between. The time includes the way to
// the server, so that over a slow line pages are smaller than need be.
func (s *sizer) note(tasks []Task, script time.Duration) {
	if len(tasks) > 0 {
		total := 0
		for i := range tasks {
			total += len(tasks[i].Payload) + len(tasks[i].LastErr)
			if script > 0 {
				total += tasks[i].ResultSize // scripts bring it along
			}
		}
		s.perTask = total / len(tasks)
	}
	switch {
	case script > slowScript:
		s.size = max(min(smallestPage, s.limit), s.size/2)
	case script < slowScript/2:
		s.size = min(s.size*2, s.limit)
	}
}
