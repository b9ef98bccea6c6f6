package journal

import (
	"encoding/json"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// anyBytes draws strings of any bytes: text, text with a broken end, noise.
func anyBytes() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{"", "\x00", "\n", "\r\n", "\xff\xfe", "\ufffd", "\xed\xa0\x80", "\u2028<&>", `","crc":"00000000"}`}),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 64), func(b []byte) string { return string(b) }),
	)
}

func anyTime(t *rapid.T, label string) time.Time {
	return time.Unix(rapid.Int64Range(0, 4e9).Draw(t, label), rapid.Int64Range(0, 999_999_999).Draw(t, label+" ns")).UTC()
}

func anyScore(t *rapid.T) *float64 {
	score := rapid.OneOf(
		rapid.Float64(),
		rapid.SampledFrom([]float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.MaxFloat64, math.SmallestNonzeroFloat64}),
	).Draw(t, "score")
	return &score
}

func anyImage(t *rapid.T) *TaskImage {
	s := anyBytes()
	image := &TaskImage{Key: s.Draw(t, "key"), Redacted: rapid.Bool().Draw(t, "redacted")}
	for range rapid.IntRange(0, 4).Draw(t, "fields") {
		image.Fields = append(image.Fields, Field{s.Draw(t, "name"), s.Draw(t, "value")})
	}
	for range rapid.IntRange(0, 3).Draw(t, "places") {
		place := Place{Key: s.Draw(t, "place")}
		if rapid.Bool().Draw(t, "scored") {
			place.Score = anyScore(t)
		}
		image.Places = append(image.Places, place)
	}
	if rapid.Bool().Draw(t, "locked") {
		image.Lock = &LockImage{Key: s.Draw(t, "lock"), Owner: s.Draw(t, "owner")}
		if rapid.Bool().Draw(t, "expires") {
			image.Lock.ExpireAt = anyTime(t, "expiry")
		}
	}
	return image
}

func anyRecord(t *rapid.T) Record {
	s := anyBytes()
	r := Record{
		Seq: rapid.Uint64().Draw(t, "seq"), Kind: Kind(rapid.IntRange(1, 4).Draw(t, "kind")),
		Run: rapid.String().Draw(t, "run"), Item: rapid.String().Draw(t, "item"), At: anyTime(t, "at"),
		Operator: s.Draw(t, "operator"), Host: s.Draw(t, "host"), Context: s.Draw(t, "context"),
		Command: s.Draw(t, "command"), Reason: s.Draw(t, "reason"), PlanDigest: s.Draw(t, "digest"),
		Change: Change(rapid.String().Draw(t, "change")), Queue: s.Draw(t, "queue"), TaskID: s.Draw(t, "id"),
		Target: s.Draw(t, "target"), Found: s.Draw(t, "found"), Error: s.Draw(t, "error"),
	}
	if rapid.Bool().Draw(t, "numbered") {
		r.Planned, r.NotBegun = rapid.IntRange(0, 1<<40).Draw(t, "planned"), rapid.IntRange(0, 1<<40).Draw(t, "not begun")
	}
	if rapid.Bool().Draw(t, "evidence") {
		b, err := json.Marshal(map[string]string{"<k>": rapid.String().Draw(t, "fact")})
		if err != nil {
			t.Fatal(err)
		}
		r.Evidence = b
	}
	if rapid.Bool().Draw(t, "task") {
		r.Task = anyImage(t)
	}
	if r.Kind == KindResult {
		r.Outcome = Outcome(rapid.IntRange(0, 3).Draw(t, "outcome"))
	}
	return r
}

func TestEveryByteIsReadBackAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyRecord(t)
		object, err := encode(&want)
		if err != nil {
			t.Fatal(err)
		}
		line := appendLine(nil, object)
		for i, c := range line {
			if last := i == len(line)-1; (c == '\n') != last {
				t.Fatalf("line feed at %d of %d", i, len(line))
			}
		}
		got, err := parseLine(line[:len(line)-1])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmp.Comparer(sameFloat)); diff != "" {
			t.Fatalf("read back (-want +got):\n%s", diff)
		}
	})
}

// sameFloat tells zero from minus zero, as a restore must.
func sameFloat(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

func TestJournalFileKeepsHostileTasks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		path := filepath.Join(t.TempDir(), "journal.jsonl")
		j := mustOpen(t, path)
		mustBegin(t, j)
		want := Record{
			Item: "1", Change: ChangeResolve, Queue: anyBytes().Draw(rt, "queue"), TaskID: anyBytes().Draw(rt, "id"),
			Target: anyBytes().Draw(rt, "target"), Task: anyImage(rt),
		}
		must(t, j.Intend(want))
		must(t, j.Settle(Record{Item: "1", Outcome: OutcomeFailed, Error: want.TaskID}))
		must(t, j.Close())
		records := readWhole(t, path)
		got := records[1]
		got = Record{Item: got.Item, Change: got.Change, Queue: got.Queue, TaskID: got.TaskID, Target: got.Target, Task: got.Task}
		if diff := cmp.Diff(want, got, cmp.Comparer(sameFloat)); diff != "" {
			rt.Fatalf("read back (-want +got):\n%s", diff)
		}
		if records[2].Error != want.TaskID {
			rt.Fatalf("error %q, want %q", records[2].Error, want.TaskID)
		}
	})
}

func TestIDThatIsNotUTF8StandsInHexBesideAReadableOne(t *testing.T) {
	r := Record{Kind: KindIntent, TaskID: "a\xffb", Queue: "q\xff"}
	object, err := encode(&r)
	must(t, err)
	var got map[string]any
	must(t, json.Unmarshal(object, &got))
	if got["task_id"] != "a\ufffdb" || got["task_id_hex"] != "61ff62" || got["queue_b64"] != "cf8=" && got["queue_b64"] != "cf8" {
		t.Errorf("%s", object)
	}
	if _, both := got["queue"]; both {
		t.Errorf("a queue in two spellings: %s", object)
	}
}
