package timeline

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/idemctl/idemctl/inspect/retry"
)

// sample is a task's life with the lock that ends in it.
func sample(t testing.TB, p retry.Params, lock retry.Seconds) Timeline {
	t.Helper()
	attempts, err := p.Attempts()
	if err != nil {
		t.Fatal(err)
	}
	l, err := p.Lifetime()
	if err != nil {
		t.Fatal(err)
	}
	return Timeline{Attempts: attempts, End: l.Max, Lock: lock}
}

func texts(lines []Line) []string {
	var out []string
	for _, l := range lines {
		out = append(out, l.Text())
	}
	return out
}

func TestDrawingStaysInItsWidth(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p := retry.DefaultParams()
		p.MaxRetry = rapid.IntRange(0, 60).Draw(r, "retries")
		p.QueueWait.Max = retry.Seconds(rapid.Float64Range(0, 1e5).Draw(r, "wait"))
		attempts, err := p.Attempts()
		if err != nil {
			r.Fatal(err)
		}
		now := retry.Seconds(rapid.Float64Range(0, 1e7).Draw(r, "now"))
		line := Timeline{
			Attempts: attempts, End: attempts[len(attempts)-1].LatestEnd,
			Lock: retry.Seconds(rapid.Float64Range(0, 1e8).Draw(r, "lock")), Now: &now,
			Left: rapid.IntRange(0, 8).Draw(r, "left"),
		}
		width := rapid.IntRange(40, 200).Draw(r, "width")
		for _, text := range texts(line.Draw(width, rapid.IntRange(0, 40).Draw(r, "rows"))) {
			if n := utf8.RuneCountInString(text); n > width {
				r.Fatalf("%d columns in %d: %q", n, width, text)
			}
		}
	})
}

// What lies after the lock's end must be told without colour.
func TestAttemptAfterTheLockLooksDifferent(t *testing.T) {
	lines := sample(t, retry.DefaultParams(), 3600).Draw(80, 0)
	column := strings.IndexRune(lines[0].Text(), '▼')
	if column < 0 || !strings.Contains(lines[0].Text(), "lock ends 1h") {
		t.Fatalf("no lock in %q", lines[0].Text())
	}
	first, last := lines[1], lines[26]
	if role := roleOf(first, '━'); role != RoleStart {
		t.Errorf("attempt 1 is %v: %q", role, first.Text())
	}
	if role := roleOf(last, '░'); role != RoleLate || strings.ContainsRune(last.Text(), '━') {
		t.Errorf("attempt 26, after the lock, is %v: %q", role, last.Text())
	}
	for i, l := range lines[1:27] {
		if !strings.ContainsAny(l.Text(), "┊┿") {
			t.Errorf("the lock's mark is drawn over in line %d: %q", i+1, l.Text())
		}
	}
}

func roleOf(l Line, mark rune) Role {
	for _, s := range l {
		if strings.ContainsRune(s.Text, mark) {
			return s.Role
		}
	}
	return RoleUnknown
}

func TestEveryAttemptIsSeen(t *testing.T) {
	for _, lock := range []retry.Seconds{0, 1, 3600, 1_900_800} {
		line := sample(t, retry.DefaultParams(), lock)
		lines := line.Draw(80, 0)
		if lock > 0 {
			lines = lines[1:]
		}
		for i := range line.Attempts {
			if !strings.ContainsAny(lines[i].Text(), "━░┿") {
				t.Errorf("lock %v: attempt %d is not to be seen in %q", lock, i+1, lines[i].Text())
			}
		}
	}
}

func TestCutNamesWhatItLeavesOut(t *testing.T) {
	p := retry.DefaultParams()
	p.MaxRetry = 99
	lines := texts(sample(t, p, 0).Draw(80, 11))
	if len(lines) != 11+2 {
		t.Fatalf("%d lines", len(lines))
	}
	if want := "attempts 6 to 95"; !strings.Contains(lines[5], want) || !strings.HasPrefix(strings.TrimSpace(lines[6]), "96 ") {
		t.Errorf("want %q and then attempt 96:\n%s", want, strings.Join(lines, "\n"))
	}
}

func TestLinesOfADrawingJoinWithoutLoss(t *testing.T) {
	for _, l := range sample(t, retry.DefaultParams(), 3600).Draw(100, 0) {
		for i := 1; i < len(l); i++ {
			if l[i].Role == l[i-1].Role || l[i].Role == RoleUnknown {
				t.Errorf("spans %d and %d of %q have one role", i-1, i, l.Text())
			}
		}
	}
}
