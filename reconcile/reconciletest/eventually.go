package reconciletest

import (
	"testing"
	"time"
)

// Eventually tries again until nothing fails, where a short time limit ends what
// the machine holds up, too.
func Eventually(t testing.TB, what string, try func() error) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: %v", what, err)
		}
	}
}
