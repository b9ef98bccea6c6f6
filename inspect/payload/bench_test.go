package payload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"
	"testing"
)

// The payloads of the benchmarks, about 1 MiB each.
func benchPayloads() []struct {
	name    string
	payload []byte
} {
	return []struct {
		name    string
		payload []byte
	}{
		{"orders-canonical", mustCanonical(structOrders())},
		{"orders-struct-order", structOrders()},
		{"floats-shortest", floats("%v,")},
		{"floats-inexact", floats("%.17g,")},
		{"floats-6-digits", floats("%.6g,")},
		{"integers", repeat("1234567,", "[", "0]")},
		{"cyrillic", repeat(`"Привет, мир, как дела",`, "[", "0]")},
		{"escapes", repeat(`"a\u003cb\u00e9\n",`, "[", "0]")},
		{"blobs", repeat(`"`+strings.Repeat("QUJD", 1000)+`",`, "[", "0]")},
		{"one-task", corpusOf(3)[0].Payload},
		{"depth-10000", []byte(strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000))},
	}
}

func repeat(unit, head, tail string) []byte {
	return []byte(head + strings.Repeat(unit, 1<<20/len(unit)) + tail)
}

func mustCanonical(p []byte) []byte {
	c, err := Canonical(p)
	if err != nil {
		panic(err)
	}
	return c
}

func structOrders() []byte {
	type line struct {
		SKU      string `json:"sku"`
		Quantity int    `json:"quantity"`
		Cents    int64  `json:"price_cents"`
		Gift     bool   `json:"gift"`
	}
	type order struct {
		ID        string            `json:"order_id"`
		Customer  int64             `json:"customer_id"`
		CreatedAt string            `json:"created_at"`
		Status    string            `json:"status"`
		Note      *string           `json:"note,omitempty"`
		Lines     []line            `json:"lines"`
		Labels    map[string]string `json:"labels"`
	}
	random := rand.New(rand.NewSource(1))
	var all []order
	for i := range 2500 {
		o := order{
			ID: fmt.Sprintf("%08x-0000-4000-8000-%012x", i, random.Int63n(1<<48)), Customer: random.Int63n(1e6),
			CreatedAt: fmt.Sprintf("2024-05-%02dT12:30:%02dZ", 1+i%28, i%60), Status: "captured",
			Labels: map[string]string{"region": "eu-central-1", "channel": "web shop"},
		}
		for range 3 {
			o.Lines = append(o.Lines, line{"SKU-" + fmt.Sprint(random.Intn(9999)), random.Intn(9), random.Int63n(1e5), false})
		}
		all = append(all, o)
	}
	p, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	return p
}

func floats(format string) []byte {
	random := rand.New(rand.NewSource(1))
	var b bytes.Buffer
	b.WriteByte('[')
	for b.Len() < 1<<20 {
		fmt.Fprintf(&b, format, random.Float64()*100)
	}
	b.WriteString("0]")
	return b.Bytes()
}

// BenchmarkCheck, as a share of the speed of BenchmarkValid on the same payload:
// 0.8 for canonical objects with short members, 0.5 for the same in struct order (a
// canonical copy is written), 1 for integers and text, 0.3 for full-precision
// fractions and for text of escapes, 8 for long strings.
func BenchmarkCheck(b *testing.B) {
	for _, p := range benchPayloads() {
		b.Run(p.name, func(b *testing.B) {
			b.SetBytes(int64(len(p.payload)))
			b.ReportAllocs()
			for b.Loop() {
				Check(p.payload)
			}
		})
	}
}

func BenchmarkCanonical(b *testing.B) {
	for _, p := range benchPayloads() {
		b.Run(p.name, func(b *testing.B) {
			b.SetBytes(int64(len(p.payload)))
			for b.Loop() {
				_, _ = Canonical(p.payload)
			}
		})
	}
}

// BenchmarkValid is the yardstick: the standard library's bare syntax check.
func BenchmarkValid(b *testing.B) {
	for _, p := range benchPayloads() {
		b.Run(p.name, func(b *testing.B) {
			b.SetBytes(int64(len(p.payload)))
			for b.Loop() {
				json.Valid(p.payload)
			}
		})
	}
}
