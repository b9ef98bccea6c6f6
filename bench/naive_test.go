package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hibiken/asynq"
	"github.com/jackc/pgx/v5"

	"github.com/idemctl/idemctl/inspect"
)

// naive pages through asynq's Inspector at its default size and asks the
// ledger for each task. Its output is buffered, which such a script would not do,
// and its statement is prepared once: it is not made slower than need be.
func (j job) naive(ctx context.Context) (work, error) {
	inspector := asynq.NewInspector(asynq.RedisClientOpt{Addr: j.Redis})
	defer inspector.Close()
	conn, err := pgx.Connect(ctx, j.Postgres)
	if err != nil {
		return work{}, err
	}
	defer conn.Close(ctx)
	out, err := openNull()
	if err != nil {
		return work{}, err
	}
	defer out.Close()
	n := naiveLoop{inspector: inspector, conn: conn, out: bufio.NewWriter(out)}
	for _, s := range states {
		limit := j.count(s)
		if j.Sample > 0 {
			limit = limit * j.Sample / j.Tasks
		}
		if err := n.state(ctx, s, limit); err != nil {
			return work{}, err
		}
	}
	return n.work, n.out.Flush()
}

type naiveLoop struct {
	inspector *asynq.Inspector
	conn      *pgx.Conn
	out       *bufio.Writer
	work
}

// state goes through the pages of one state until limit tasks were seen.
func (n *naiveLoop) state(ctx context.Context, s inspect.State, limit int) error {
	list := map[inspect.State]func(string, ...asynq.ListOption) ([]*asynq.TaskInfo, error){
		inspect.StatePending: n.inspector.ListPendingTasks, inspect.StateScheduled: n.inspector.ListScheduledTasks,
		inspect.StateRetry: n.inspector.ListRetryTasks, inspect.StateArchived: n.inspector.ListArchivedTasks,
		inspect.StateCompleted: n.inspector.ListCompletedTasks,
	}[s]
	for page, seen := 1, 0; seen < limit; page++ {
		tasks, err := list(queue, asynq.PageSize(30), asynq.Page(page))
		if err != nil || len(tasks) == 0 {
			return err
		}
		for _, t := range tasks[:min(len(tasks), limit-seen)] {
			if err := n.task(ctx, t); err != nil {
				return err
			}
		}
		seen += len(tasks)
	}
	return nil
}

func (n *naiveLoop) task(ctx context.Context, t *asynq.TaskInfo) error {
	var at time.Time
	err := n.conn.QueryRow(ctx, "SELECT processed_at FROM processed_tasks WHERE task_id = $1", t.ID).Scan(&at)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	n.Tasks++
	verdict := "not applied"
	if err == nil {
		n.Applied++
		verdict = "applied " + at.Format(time.RFC3339)
	}
	_, err = fmt.Fprintf(n.out, "%s\t%s\t%s\t%s\t%s\n", t.Queue, t.ID, t.Type, t.State, verdict)
	return err
}
