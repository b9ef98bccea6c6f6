package demo

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// pay is the handler as it should be, but for what it returns in the end.
func pay(event string, after error) handler {
	return func(ctx context.Context, n *night, _ *incident) error {
		if err := n.desk.exec(ctx, markEvent(event), payment(event, 4200)); err != nil {
			return fmt.Errorf("charge: %w", err)
		}
		return after
	}
}

// payThenOverrun commits, and then does not mind that its time is up.
func payThenOverrun(event string) handler {
	return func(ctx context.Context, n *night, i *incident) error {
		if err := pay(event, nil)(ctx, n, i); err != nil {
			return err
		}
		<-ctx.Done()
		time.Sleep(50 * time.Millisecond)
		return nil
	}
}

func payThenHang(event string) handler {
	return func(ctx context.Context, n *night, i *incident) error {
		if err := pay(event, nil)(ctx, n, i); err != nil {
			return err
		}
		n.hang()
		return nil
	}
}

func succeed(context.Context, *night, *incident) error { return nil }

func fail(err error) handler {
	return func(context.Context, *night, *incident) error { return err }
}

// markOnly writes its two rows in two transactions, and dies between them.
func markOnly(event string) handler {
	return func(ctx context.Context, n *night, _ *incident) error {
		if err := n.desk.exec(ctx, markEvent(event)); err != nil {
			return err
		}
		return errors.New("refund: connection reset before the payment row")
	}
}

func markByID(ctx context.Context, n *night, i *incident) error {
	return n.desk.exec(ctx, markTask(i.id))
}

func claimThenFail(transfer string) handler {
	return func(ctx context.Context, n *night, _ *incident) error {
		if err := n.desk.exec(ctx, claim(transfer)); err != nil {
			return err
		}
		return errors.New("transfer: upstream closed the stream")
	}
}

func awardThenFail(id string) handler {
	return func(ctx context.Context, n *night, _ *incident) error {
		if err := n.desk.exec(ctx, award(id)); err != nil {
			return err
		}
		return errors.New("points: cache refresh failed")
	}
}
