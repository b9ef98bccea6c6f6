package bench

import (
	"fmt"
	"os"
	"strconv"
)

// settings come from the environment, so that `make bench` needs no flags.
type settings struct {
	rounds  int    // IDEMCTL_BENCH_ROUNDS: of each table; 3
	million bool   // IDEMCTL_BENCH_MILLION: 0 leaves out the run over 1,000,000 tasks
	profile string // IDEMCTL_BENCH_PROFILE: directory for CPU profiles; "": none
}

func readSettings() (settings, error) {
	s := settings{rounds: 3, million: true, profile: os.Getenv("IDEMCTL_BENCH_PROFILE")}
	if text := os.Getenv("IDEMCTL_BENCH_ROUNDS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return s, fmt.Errorf("IDEMCTL_BENCH_ROUNDS=%q: give a number of rounds from 1 on", text)
		}
		s.rounds = n
	}
	if text := os.Getenv("IDEMCTL_BENCH_MILLION"); text != "" {
		on, err := strconv.ParseBool(text)
		if err != nil {
			return s, fmt.Errorf("IDEMCTL_BENCH_MILLION=%q: give 0 or 1", text)
		}
		s.million = on
	}
	return s, nil
}
