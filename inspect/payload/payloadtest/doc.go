// Package payloadtest tests, in a producer's own Go tests, that equal work gives
// equal payload bytes, and so one asynq uniqueness lock.
//
//	func TestInvoicePayload(t *testing.T) {
//		payloadtest.Check(t, InvoicePayload{ID: 42, Lines: lines})
//		payloadtest.SameWork(t, func() any { return NewInvoicePayload(42) })
//	}
//
// Check looks at one value: it marshals it repeatedly, rebuilds its maps in other
// orders, turns its slices around, and applies the rules of package payload.
// SameWork builds the value twice, which is how a retried enqueue does it, and
// finds clocks and random identifiers whatever they look like.
package payloadtest
