package retry_test

import (
	"fmt"

	"github.com/idemctl/idemctl/inspect/retry"
)

// How long must the lock of a charge live that is retried ten times?
func Example() {
	policy, err := retry.Parse("exponential(base=10s, factor=2, cap=1h, jitter=20%)")
	if err != nil {
		fmt.Println(err)
		return
	}
	p := retry.DefaultParams()
	p.MaxRetry, p.Delay = 10, policy
	p.Timeout = new(retry.Seconds(60))
	p.Exec.Typical = new(retry.Seconds(2))
	p.QueueWait.Max = 600

	life, err := p.Lifetime()
	if err != nil {
		fmt.Println(err)
		return
	}
	advice, err := p.Advise()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("at most", life.Max)
	fmt.Println("write", advice.Go)

	p.UniqueTTL = new(retry.Seconds(3600))
	lock, err := p.Lock(1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("an hour covers %d of %d attempts\n", lock.Covered, lock.Attempts)
	// Output:
	// at most 4h56m2s
	// write asynq.Unique(5 * time.Hour)
	// an hour covers 5 of 11 attempts
}
