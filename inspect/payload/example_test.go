package payload_test

import (
	"fmt"

	"github.com/idemctl/idemctl/inspect/payload"
)

func ExampleCheck() {
	report := payload.Check([]byte(`{"user_id": 42, "sent_at":"2024-05-01T12:34:56.789Z"}`))
	fmt.Println("canonical:", report.Canonical)
	fmt.Printf("%s\n", report.Bytes)
	for _, f := range report.Findings {
		fmt.Println(f.Severity(), f.Rule, f.Path)
	}
	// Output:
	// canonical: false
	// {"sent_at":"2024-05-01T12:34:56.789Z","user_id":42}
	// error whitespace $
	// info key-order $
	// warn timestamp-subsecond $.sent_at
}

func ExampleDiff() {
	a := []byte(`{"order":7,"trace_id":"4bf9"}`)
	b := []byte(`{"trace_id":"00f0", "order":7}`)
	d := payload.Diff(a, b)
	fmt.Println("same work:", d.Work, "- one lock:", d.SharesLock)
	for _, c := range d.Values {
		fmt.Println(c.Kind, c.Path, c.Rules)
	}
	for _, s := range d.Spellings {
		fmt.Println("spelling", s.Path, s.Rule)
	}
	// Output:
	// same work: different - one lock: false
	// value $.trace_id [volatile-name]
	// spelling $ whitespace
	// spelling $ key-order
}

func ExampleCorpus() {
	var corpus payload.Corpus
	for i := range 30 {
		corpus.Add(payload.Entry{
			ID: fmt.Sprint("task-", i), Queue: "default", Type: "order:sync",
			Payload: fmt.Appendf(nil, `{"order":%d,"nonce":"%x"}`, i%10, i*7919),
		})
	}
	for _, group := range corpus.Result() {
		for _, f := range group.Findings {
			fmt.Println(group.Type, f.Rule, f.Path, f.Examples[0].ID, f.Examples[1].ID)
		}
	}
	// Output:
	// order:sync volatile-field $.nonce task-0 task-10
}
