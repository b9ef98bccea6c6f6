package payload

import (
	"testing"
	"time"
)

func TestTimestampStrings(t *testing.T) {
	moment := time.Date(2024, 5, 1, 12, 34, 56, 123456789, time.FixedZone("CEST", 7200))
	tests := map[string]facts{
		// a fraction of a second
		moment.Format(time.RFC3339Nano):                factSubsecond,
		moment.String():                                factSubsecond,
		time.Now().String():                            factSubsecond,
		"2024-05-01T12:34:56.789Z":                     factSubsecond,
		"2024-05-01t12:34:56.789z":                     factSubsecond,
		"2024-05-01 12:34:56.789012":                   factSubsecond,
		"2024-05-01 12:34:56.789012+00:00":             factSubsecond,
		"2024-05-01 12:34:56,789":                      factSubsecond,
		"2024-05-01T12:34:56.5+0200":                   factSubsecond,
		"2024-05-01T12:34:56.5-07":                     factSubsecond,
		"2024-05-01T12:34:56.123Z[Europe/Berlin]":      factSubsecond,
		"2024-05-01T00:00:00.001Z":                     factSubsecond,
		"2024-05-01 00:00:00 +0000 UTC m=+0.000000001": factSubsecond,
		"2024-05-01 12:34:56 +0300 +03 m=-12.5":        factSubsecond,
		"2024-02-29T12:34:56.5Z":                       factSubsecond,
		// whole seconds
		moment.Format(time.RFC3339): factSecond,
		"2024-05-01T12:34:56.000Z":  factSecond,
		"2024-05-01 12:34:56":       factSecond,
		"2024-05-01 12:34:56 UTC":   factSecond,
		"2024-05-01T00:00:01Z":      factSecond,
		"2016-12-31T23:59:60Z":      factSecond,
		// whole days, and what is no time
		"2024-05-01T00:00:00Z":             0,
		"2024-05-01T00:00:00+02:00":        0,
		"2024-05-01T00:00:00.000000-11:30": 0,
		"2024-05-01 00:00:00 +0000 UTC":    0,
		"2024-05-01":                       0,
		"12:34:56.789":                     0,
		"2024-05-01T12:34":                 0,
		"2024-05-01T12:34Z":                0,
		"2024-13-01T12:34:56.5Z":           0,
		"2024-00-01T12:34:56.5Z":           0,
		"2023-02-29T12:34:56.5Z":           0,
		"1900-02-29T12:34:56.5Z":           0,
		"2024-04-31T12:34:56.5Z":           0,
		"2024-05-01T24:34:56.5Z":           0,
		"2024-05-01T12:60:56.5Z":           0,
		"2024-05-01T12:34:61.5Z":           0,
		"2024-05-01T12:34:56.":             0,
		"2024-05-01T12:34:56.Z":            0,
		"2024-05-01T12:34:56.5Zulu":        0,
		"2024-05-01T12:34:56.5+25:00":      0,
		"2024-05-01T12:34:56.5 m=":         0,
		"2024-05-01T12:34:56.5 m=+":        0,
		"2024-05-01T12:34:56.5 started":    0,
		"2024-05-01_12:34:56.5":            0,
		"2024/05/01 12:34:56.5":            0,
		" 2024-05-01T12:34:56.5Z":          0,
		"2024-05-01T12:34:56.5Z ":          0,
		"2024-05-01T1２:34:56":              0,
	}
	for text, want := range tests {
		if got := stringFacts([]byte(text), 0); got != want {
			t.Errorf("%q: %b, want %b", text, got, want)
		}
	}
}

func TestIdentifierStrings(t *testing.T) {
	tests := map[string]facts{
		"c232ab00-9414-11ec-b3c8-9f6bdeced846":                             factRandomID, // version 1
		"3f2504e0-4f89-41d3-9a0c-0305e82c3301":                             factRandomID, // 4
		"3F2504E0-4F89-41D3-9A0C-0305E82C3301":                             factRandomID,
		"1ec9414c-232a-6b00-b3c8-9f6bdeced846":                             factRandomID, // 6
		"017f22e2-79b0-7cc3-98c4-dc0c0c07398f":                             factRandomID, // 7
		"9073926b-929f-31c2-abc9-fad77ae3e8eb":                             0,            // 3
		"74738ff5-5367-5958-9aee-98fffdcd1876":                             0,            // 5
		"000003e8-cbb9-21ea-b201-00045a86c8a1":                             0,            // 2
		"320c3d4d-cc00-875b-8ec9-32d5f69181c0":                             0,            // 8
		"00000000-0000-0000-0000-000000000000":                             0,
		"ffffffff-ffff-ffff-ffff-ffffffffffff":                             0,
		"3f2504e0-4f89-41d3-7a0c-0305e82c3301":                             0, // variant
		"3f2504e0-4f89-41d3-9a0c-0305e82c330g":                             0,
		"3f2504e0x4f89-41d3-9a0c-0305e82c3301":                             0,
		"01HX3Z8K5QJ6R7S8T9V0W1X2Y3":                                       factRandomID,
		"01hx3z8k5qj6r7s8t9v0w1x2y3":                                       factRandomID,
		"81HX3Z8K5QJ6R7S8T9V0W1X2Y3":                                       0, // beyond 128 bits
		"01HX3Z8K5QJ6R7S8T9V0W1X2YI":                                       0, // no such digit
		"d41d8cd98f00b204e9800998ecf8427e":                                 factHex,
		"00f067aa0ba902b7":                                                 factHex,
		"DA39A3EE5E6B4B0D3255BFEF95601890AFD80709":                         factHex,
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855": factHex,
		"1234567890123456":                                                 0, // digits alone
		"d41d8cd98f00b204e9800998ecf8427":                                  0,
		"":                                                                 0,
	}
	for text, want := range tests {
		if got := stringFacts([]byte(text), 0); got != want {
			t.Errorf("%q: %b, want %b", text, got, want)
		}
	}
}

func TestTraceparentIsVolatileUnderAnyName(t *testing.T) {
	const trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	tests := map[string]bool{
		"00-" + trace + "-" + parent + "-01":                    true,
		"cc-" + trace + "-" + parent + "-01-extra":              true,
		"00-" + trace + "-" + parent + "-01-extra":              false,
		"ff-" + trace + "-" + parent + "-01":                    false,
		"00-" + trace + "-0000000000000000-01":                  false,
		"00-00000000000000000000000000000000-" + parent + "-01": false,
		"00-4BF92F3577B34DA6A3CE929D0E0E4736-" + parent + "-01": false,
		"00-" + trace + "-" + parent:                            false,
	}
	for text, want := range tests {
		if got := stringFacts([]byte(text), 0)&factVolatile != 0; got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestVolatileNames(t *testing.T) {
	tests := map[string]nameClass{
		"traceparent": nameVolatile, "Trace-State": nameVolatile, "baggage": nameVolatile, "b3": nameVolatile,
		"traceId": nameVolatile, "TRACE_ID": nameVolatile, "X-Trace-ID": nameVolatile, "span_id": nameVolatile,
		"ParentSpanId": nameVolatile, "X-B3-TraceId": nameVolatile, "x_b3_span_id": nameVolatile,
		"X-B3-ParentSpanId": nameVolatile, "X-B3-Sampled": nameVolatile, "uber-trace-id": nameVolatile,
		"X-Amzn-Trace-Id": nameVolatile, "nonce": nameVolatile, "salt": nameVolatile,
		"enqueued_at": nameVolatile | nameTime, "queuedAt": nameVolatile | nameTime,
		"request_id": nameRequest, "X-Request-Id": nameRequest, "correlationId": nameRequest, "X-Correlation-ID": nameRequest,
		"trace": 0, "trace_ids": 0, "nonces": 0, "idempotency_key": 0, "b33": 0, "xb3parentspanidx": 0, "": 0, "---": 0, "saltö": 0,
	}
	for name, want := range tests {
		if got := classifyName([]byte(name)); got != want|nameKnown {
			t.Errorf("%q: %b, want %b", name, got, want)
		}
	}
}

func TestTimeLikeNames(t *testing.T) {
	tests := map[string]bool{
		"at": true, "created_at": true, "createdAt": true, "CreatedAT": true, "ts": true, "eventTS": true, "day_ts": true,
		"time": true, "event-time": true, "HTTPDate": true, "timestamp": true, "Timestamp": true, "dateTime": true,
		"datetime": true, "now": true, "epoch": true, "epochMillis": true, "unix_nanos": true, "micros": true, "date": true,
		"timeout_ms": false, "format": false, "lat": false, "data": false, "update": false, "times": false, "phone": false,
		"ATTEMPT": false, "status": false, "ms": false, "atom": false, "ts2": false, "": false, "_": false, "timestamps": false,
		"événement_at": true, "kät": false,
	}
	for name, want := range tests {
		if got := timeLike([]byte(name)); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

func TestEpochNumbers(t *testing.T) {
	tests := map[string]facts{
		"1714567890":              factSecond,
		"1714567890.0":            factSecond,
		"1714567890.5":            factEpoch,
		"1714567890123":           factEpoch,
		"1.714567890123e12":       factEpoch,
		"1714567890123456":        factEpoch,
		"1714567890123456789":     factEpoch,
		"9999999999999":           factEpoch,
		"1000000000001":           factEpoch,
		"1714521600":              0, // a whole day
		"1714521600000":           0,
		"1714521600000000":        0,
		"1714521600000000000":     0,
		"1714521600.000":          0,
		"999999999999":            0,
		"171456789.5":             0,
		"-1714567890123":          0,
		"0":                       0,
		"10000000000000000000000": 0,
		"17145678901234":          0,
	}
	for literal, want := range tests {
		if got := numberFacts(parseDecimal([]byte(literal), nil), nameTime); got != want {
			t.Errorf("%s: %b, want %b", literal, got, want)
		}
		if got := numberFacts(parseDecimal([]byte(literal), nil), 0); got != 0 {
			t.Errorf("%s under another name: %b", literal, got)
		}
	}
	for text, want := range map[string]facts{"1714567890123": factEpoch, "1714567890": factSecond, "01714567890123": 0, "1714567890123\t": 0, "1714521600000": 0} {
		if got := stringFacts([]byte(text), nameTime); got != want {
			t.Errorf("%q: %b, want %b", text, got, want)
		}
	}
}

func TestRequestNamesNeedARandomValue(t *testing.T) {
	tests := map[string]bool{
		"4711": false, "REQ-2024-17": false, "": false, "d41d8cd98f00b204e9800998ecf8427": false,
		"D41D8CD98F00B204E9800998ECF8427E":     false,
		"d41d8cd98f00b204e9800998ecf8427e":     true,
		"00f067aa0ba902b7":                     true,
		"3f2504e0-4f89-41d3-9a0c-0305e82c3301": true,
		"9073926b-929f-31c2-abc9-fad77ae3e8eb": false,
	}
	for text, want := range tests {
		if got := stringFacts([]byte(text), nameRequest)&factVolatile != 0; got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if numberFacts(parseDecimal([]byte("4711"), nil), nameRequest) != 0 {
		t.Error("a number under a request name is a business key")
	}
}
