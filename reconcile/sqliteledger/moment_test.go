package sqliteledger

import (
	"testing"
	"time"
)

func TestMomentReadsWhatProgramsStore(t *testing.T) {
	want := time.Date(2026, 3, 2, 10, 20, 30, 0, time.UTC)
	for _, v := range []any{
		"2026-03-02 10:20:30", "2026-03-02T10:20:30Z", "2026-03-02 10:20:30Z", "2026-03-02T11:20:30+01:00",
		"2026-03-02 11:20:30+01:00", "2026-03-02 10:20:30.000", "2026-03-02T10:20:30.000000000Z",
		want.String(), want.In(time.FixedZone("CET", 3600)).String(), want.String() + " m=+0.000000001",
		" 2026-03-02 10:20:30 ", want.Unix(), want.UnixMilli(), want.UnixMicro(), want.UnixNano(),
		float64(want.Unix()), want, 2461101.9309027777,
	} {
		if got := moment(v); got.Sub(want).Abs() > 100*time.Microsecond || got.Location() != time.UTC {
			t.Errorf("%#v is read as %v, want %v", v, got, want)
		}
	}
}

func TestMomentTakesNothingElseForATime(t *testing.T) {
	for _, v := range []any{nil, "", "yesterday", "2026-03-02", "10:20:30", int64(0), int64(7), int64(-1), 1.5, []byte("2026-03-02 10:20:30"), true} {
		if got := moment(v); !got.IsZero() {
			t.Errorf("%#v is read as %v", v, got)
		}
	}
}
