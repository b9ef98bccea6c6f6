package render

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/idemctl/idemctl/inspect/retry"
)

func writtenAll(t testing.TB, o Options, a *TTLObserved) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteTTLAll(&b, o, a); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestAllKeepsItsFaces(t *testing.T) {
	for _, face := range ttlFaces {
		t.Run(face.name, func(t *testing.T) {
			o := sampleOptions(face.format, face.width, face.tty)
			o.Color = face.color
			golden(t, "ttlall-"+face.name, writtenAll(t, o, sampleObserved()))
		})
	}
}

func TestAllIsAsPublished(t *testing.T) {
	document, line := publishedTTL(t, "ttlall.v1.json", ""), publishedTTL(t, "ttlall.v1.json", "#/$defs/kind")
	for _, a := range []*TTLObserved{sampleObserved(), {Problem: "timed out"}} {
		validate(t, document, writtenAll(t, sampleOptions(FormatJSON, 0, false), a))
		for l := range strings.Lines(writtenAll(t, sampleOptions(FormatNDJSON, 0, false), a)) {
			validate(t, line, l)
		}
	}
}

func sampleRetention(t testing.TB) *Retention {
	t.Helper()
	need, err := retry.DefaultParams().Retention(retry.DefaultRetentionPolicy())
	if err != nil {
		t.Fatal(err)
	}
	endless := need
	endless.Bounded, endless.UnboundedBecause = false, []retry.Reason{{Code: retry.ReasonRequeues, Text: "unlimited deploys"}}
	return &Retention{
		Policy: retry.DefaultRetentionPolicy(),
		Rules: []RetentionRule{
			{Number: 1, Type: "payment:*", Queue: "*", Need: need, Inputs: []TTLInput{{"max_retry", "25", "asynq: client.go: defaultMaxRetry"}}},
			{Number: 2, Type: "sms:*", Queue: "low", Need: endless},
		},
		Tables: []RetentionTable{
			{
				Ledger: "main", Kind: "postgres", Table: "public.processed_tasks", Column: "task_id", At: "processed_at", Roles: []string{"mark"},
				Needed: &need.Fixed, Declared: 30 * 24 * time.Hour, Oldest: sampleNow.Add(-31 * 24 * time.Hour), Age: 31 * 24 * time.Hour,
				Verdict: RetentionTooShort, Why: "rows are pruned after 30d", Statement: "-- repeat\nDELETE FROM public.processed_tasks;\n",
			},
			{Ledger: "main", Kind: "postgres", Table: "public.inbox", Column: "message_id", Roles: []string{"inbox"}, Empty: true, Why: "it has no row"},
			{Ledger: "main", Kind: "postgres", Table: "public.kept", Column: "id", Roles: []string{"mark"}, Forever: true, Verdict: RetentionFine, Why: "its rows are kept for ever"},
		},
	}
}

func TestRetentionKeepsItsFaces(t *testing.T) {
	for _, face := range ttlFaces {
		t.Run(face.name, func(t *testing.T) {
			o := sampleOptions(face.format, face.width, face.tty)
			o.Color = face.color
			var b bytes.Buffer
			if err := WriteRetention(&b, o, sampleRetention(t)); err != nil {
				t.Fatal(err)
			}
			golden(t, "retention-"+face.name, b.String())
			unseen(t, strings.ReplaceAll(b.String(), "\x1b", ""))
		})
	}
}

func TestRetentionIsAsPublished(t *testing.T) {
	s := publishedTTL(t, "retention.v1.json", "")
	for _, r := range []*Retention{sampleRetention(t), {}} {
		var b bytes.Buffer
		if err := WriteRetention(&b, sampleOptions(FormatJSON, 0, false), r); err != nil {
			t.Fatal(err)
		}
		validate(t, s, b.String())
	}
}
