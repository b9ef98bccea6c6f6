package journal

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// Whatever fails and in whatever order: the copy holds what the file holds up to
// some line, every intent that was acknowledged is in it, and the next Open that
// succeeds makes it whole. A process that is killed is one that never closes.
func TestCopyIsAlwaysABeginningOfTheFile(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		w := &copyWalk{rt: rt, t: t, path: filepath.Join(dir, strconv.Itoa(n)), copy: newMemoryCopy(), acknowledged: map[string]bool{}}
		w.open()
		rt.Repeat(map[string]func(*rapid.T){
			"the copy goes or comes": func(*rapid.T) { w.copy.down = !w.copy.down },
			"an answer is lost":      func(*rapid.T) { w.copy.lostAnswers = 1 },
			"run":                    func(*rapid.T) { w.begin() },
			"intend":                 func(*rapid.T) { w.intend() },
			"settle":                 func(*rapid.T) { w.settle() },
			"sync":                   func(*rapid.T) { w.must(w.j.Sync()) },
			"close":                  func(*rapid.T) { w.must(w.j.Close()); w.open() },
			"kill":                   func(*rapid.T) { w.must(w.j.f.Close()); w.open() },
			"":                       func(*rapid.T) { w.check() },
		})
		w.must(w.j.Close())
		w.copy.down, w.copy.lostAnswers = false, 0
		w.open()
		w.must(w.j.Close())
		if lines := w.check(); lines != len(w.copy.lines) {
			rt.Errorf("in the end the copy has %d lines of %d", len(w.copy.lines), lines)
		}
	})
}

type copyWalk struct {
	rt           *rapid.T
	t            *testing.T
	path         string
	copy         *memoryCopy
	j            *Journal
	run          string
	item         int
	unsettled    []string        // items with an intent and no result
	acknowledged map[string]bool // run/item of intents that may be carried out
}

func (w *copyWalk) must(err error) {
	w.t.Helper()
	if err != nil {
		w.rt.Fatal(err)
	}
}

// open opens as a command does: one that fails is tried again when the copy is
// there.
func (w *copyWalk) open() {
	o := testOptions()
	o.Copy = w.copy
	j, err := Open(w.t.Context(), w.path, o)
	if err != nil {
		w.copy.down, w.copy.lostAnswers = false, 0
		j, err = Open(w.t.Context(), w.path, o)
	}
	w.must(err)
	w.j, w.run, w.unsettled = j, "", nil
}

func (w *copyWalk) begin() {
	if w.run != "" {
		w.must(w.j.End(w.run))
		w.run, w.unsettled = "", nil
	}
	w.run, _ = w.j.Begin(Run{})
}

func (w *copyWalk) intend() {
	if w.run == "" {
		return
	}
	var intents []Record
	for range rapid.IntRange(1, 4).Draw(w.rt, "intents") {
		w.item++
		intents = append(intents, intent(strconv.Itoa(w.item), rapid.IntRange(0, 300).Draw(w.rt, "payload")))
	}
	if w.j.Intend(intents...) != nil {
		return
	}
	for _, r := range intents {
		w.unsettled = append(w.unsettled, r.Item)
		w.acknowledged[w.run+"/"+r.Item] = true
	}
}

func (w *copyWalk) settle() {
	if len(w.unsettled) == 0 {
		return
	}
	w.must(w.j.Settle(Record{Item: w.unsettled[0], Outcome: OutcomeDone}))
	w.unsettled = w.unsettled[1:]
}

// check returns how many lines the file has.
func (w *copyWalk) check() int {
	b, err := os.ReadFile(w.path)
	w.must(err)
	lines := bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))
	if len(b) == 0 {
		lines = nil
	}
	acknowledged := 0
	for i, line := range lines {
		r, err := ParseLine(line)
		w.must(err)
		copied, has := w.copy.lines[place(r.Run, r.Seq)]
		if has != (i < len(w.copy.lines)) || has && copied != string(line) {
			w.rt.Fatal(fmt.Sprintf("the copy has %d lines, and line %d of %d is in it: %v", len(w.copy.lines), i+1, len(lines), has))
		}
		if r.Kind == KindIntent && w.acknowledged[r.Run+"/"+r.Item] {
			acknowledged++
			if !has {
				w.rt.Fatalf("item %s was acknowledged and is not in the copy", r.Item)
			}
		}
	}
	if acknowledged != len(w.acknowledged) {
		w.rt.Fatalf("the file has %d of %d acknowledged intents", acknowledged, len(w.acknowledged))
	}
	return len(lines)
}
