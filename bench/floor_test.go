package bench

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"github.com/idemctl/idemctl/inspect"
)

// floorBatch is how many tasks one pipeline and one statement of the floor read.
const floorBatch = 1000

// floor reads what an audit has to read, in batches as large as serve, with
// two statements in flight beside the reading, and only counts. Whoever judges
// cannot be faster than this with the same client libraries.
func (j job) floor(ctx context.Context) (work, error) {
	rdb := redis.NewClient(&redis.Options{Addr: j.Redis, Protocol: 2})
	defer rdb.Close()
	ids := make(chan []string, 1)
	applied := make(chan lookups, 2)
	for range cap(applied) {
		go func() { applied <- lookUpAll(ctx, j.Postgres, ids) }()
	}
	var w work
	err := readAll(ctx, rdb, func(batch []string) {
		w.Tasks += len(batch)
		ids <- batch
	})
	close(ids)
	for range cap(applied) {
		l := <-applied
		w.Applied += l.rows
		if err == nil {
			err = l.err
		}
	}
	return w, err
}

// readAll reads every ID and every hash.
func readAll(ctx context.Context, rdb *redis.Client, found func([]string)) error {
	for _, s := range states {
		key := "asynq:{" + queue + "}:" + s.String()
		for from := int64(0); ; from += floorBatch {
			ids, err := readIDs(ctx, rdb, s, key, from)
			if err != nil {
				return err
			}
			if len(ids) == 0 {
				break
			}
			pipe := rdb.Pipeline()
			for _, id := range ids {
				pipe.HMGet(ctx, "asynq:{"+queue+"}:t:"+id, "msg", "state", "pending_since", "unique_key", "group")
			}
			if _, err := pipe.Exec(ctx); err != nil {
				return err
			}
			found(ids)
		}
	}
	return nil
}

func readIDs(ctx context.Context, rdb *redis.Client, s inspect.State, key string, from int64) ([]string, error) {
	if s == inspect.StatePending {
		return rdb.LRange(ctx, key, from, from+floorBatch-1).Result()
	}
	scored, err := rdb.ZRangeWithScores(ctx, key, from, from+floorBatch-1).Result()
	ids := make([]string, len(scored))
	for i, z := range scored {
		ids[i], _ = z.Member.(string)
	}
	return ids, err
}

type lookups struct {
	rows int
	err  error
}

// lookUpAll reads the rows of the batches it gets until there are no more. After
// an error it goes on taking them.
func lookUpAll(ctx context.Context, dsn string, batches <-chan []string) (l lookups) {
	defer func() {
		for range batches {
		}
	}()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return lookups{err: err}
	}
	defer conn.Close(ctx)
	for ids := range batches {
		rows, err := conn.Query(ctx, "SELECT task_id, processed_at FROM processed_tasks WHERE task_id = ANY($1)", ids)
		if err != nil {
			return lookups{err: err}
		}
		for rows.Next() {
			l.rows++
		}
		if rows.Err() != nil {
			return lookups{err: rows.Err()}
		}
	}
	return l
}
