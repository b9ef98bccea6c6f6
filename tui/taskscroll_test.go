package tui

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile"
)

// many has so many more archived tasks, read in pages of three.
func many(n int) *fake {
	f := newFake()
	for i := range n {
		f.add(fakeTask(100+i, "payments", inspect.StateArchived))
	}
	return f
}

func TestOrderThatIsChosenIsSeenFromItsTop(t *testing.T) {
	d := drive(t, many(60))
	d.keys(":archived<enter>Gkk").keys("s") // by task: the list is read anew for it
	d.sees("TASK↑", "1 of 72").on("task-0000")
	d.keys("jjj").keys("r").sees("TASK↓", "1 of 72").on("task-0159")
	d.keys("G").on("task-0000")
	d.keys("ss").sees("1 of 72") // by type
}

func TestSortedListOfAnotherQueueOpensAtItsTop(t *testing.T) {
	d := drive(t, many(60))
	d.keys(":default archived<enter>srG")
	d.keys("]").sees("payments archived", "1 of 72").on("task-0159")
}

func TestKeyDuringTheReadingOfASortedListKeepsItsTask(t *testing.T) {
	d := drive(t, many(60))
	d.keys(":archived<enter>")
	d.hold = true
	d.keys("sr")
	for range 4 { // of 24 pages
		for _, m := range d.answers() {
			d.hold = true
			d.take(m)
		}
	}
	d.View()
	d.keys("j")
	here, _ := d.top().(*tasks).current()
	d.release()
	d.sees("of 72").on(here.ID)
}

func TestRefreshOfASortedListKeepsTheCursorsTask(t *testing.T) {
	f := many(60)
	d := drive(t, f)
	d.keys(":archived<enter>s").on("task-0000")
	f.mu.Lock()
	j := fakeTask(0, "payments", inspect.StateArchived)
	j.Task.ID = "a-task-before-all"
	f.tasks = append(f.tasks, j)
	f.mu.Unlock()
	d.wait(6 * time.Second)
	d.on("task-0000").sees("2 of 73", "↑ 1 new above")
}

func TestTasksThatCameInAboveTheWindowAreCounted(t *testing.T) {
	f := many(60)
	d := drive(t, f)
	d.keys(":archived<enter>")
	come := func(from, n int) {
		f.mu.Lock()
		defer f.mu.Unlock()
		var more []reconcile.Judged
		for i := range n {
			j := fakeTask(from+i, "payments", inspect.StateArchived)
			j.Task.ID = fmt.Sprintf("new-%04d", from+i)
			more = append(more, j)
		}
		f.tasks = slices.Concat(more, f.tasks)
	}
	come(0, 9)
	d.wait(6*time.Second).sees("↑ 9 new above", "10 of 81").on("task-0000")
	come(20, 3)
	d.wait(5*time.Second).sees("↑ 12 new above", "13 of 84").on("task-0000")
	d.wait(5 * time.Second).sees("↑ 12 new above") // nothing else came
	d.keys("kkkk").sees("↑ 8 new above").on("new-0005")
	d.keys("g").lacks("new above").on("new-0020")
	d.keys("G").wait(5 * time.Second).lacks("new above") // they were seen
	come(40, 2)
	d.wait(5*time.Second).sees("↑ 2 new above", "86 of 86")
	d.send(size(40, 12))
	d.sees("↑ 2 new above")
	d.keys("<esc>:archived<enter>").lacks("new above")
}

// What comes due is looked at for what comes next; an order that was chosen stays,
// and a long list is not read whole unasked.
func TestShortListsOfWhatComesDueBeginWithTheSoonest(t *testing.T) {
	f := newFake()
	slices.Reverse(f.tasks)
	d := drive(t, f)
	d.keys(":retry<enter>").sees("by next", "NEXT↑").on("task-0020")
	d.keys("l").lacks("by next")
	d.keys("hr").sees("by next", "NEXT↓").on("task-0024")
	d.keys("lh").sees("NEXT↓")

	f = newFake()
	for i := range shortList {
		j := fakeTask(20, "default", inspect.StateRetry)
		j.Task.ID = fmt.Sprintf("more-%d", i)
		f.add(j)
	}
	drive(t, f).keys(":retry<enter>").sees("Tasks retry").lacks("by next")
}
