package inspect

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"
)

//go:embed lua/*.lua
var luaFiles embed.FS

// The scripts of the changes.
var (
	releaseLock   = newScript("releaselock")
	putBack       = newScript("putback")
	archive       = newScript("archive")
	expireLease   = newScript("expirelease")
	setState      = newScript("setstate")
	closeTask     = newScript("close")
	registerGroup = newScript("registergroup")
	deleteResult  = newScript("deleteresult")
	dropLease     = newScript("droplease")
	dropDangling  = newScript("dropdangling")
	requeue       = newScript("requeue")
	resolve       = newScript("resolve")
	restore       = newScript("restore")
)

// newScript puts what the scripts have in common in front of one.
func newScript(name string) *redis.Script {
	var source strings.Builder
	for _, file := range []string{"common", name} {
		text, err := luaFiles.ReadFile("lua/" + file + ".lua")
		if err != nil {
			panic(err) // the file is built in, or the program is not built
		}
		source.Write(text)
	}
	return redis.NewScript(source.String())
}

// change runs a script once and reads its answer: nothing, or why nothing was
// done; or, after "", what is to be said of what was done.
func (c *Client) change(ctx context.Context, op string, s *redis.Script, keys []string, args ...any) (Change, error) {
	if ctx.Err() != nil {
		return Change{}, ctx.Err()
	}
	answer, err := s.Run(ctx, sentOnce{c.redis}, keys, args...).StringSlice()
	switch {
	case err != nil && strings.Contains(err.Error(), "WRONGTYPE"):
		// A script reads all its keys before it writes to any.
		return Change{Found: "one of its keys holds another type than asynq's"}, nil
	case err != nil:
		return Change{}, changeFault(c.fault(ctx, op, err))
	case len(answer) == 0:
		return Change{Done: true}, nil
	case answer[0] == "":
		return Change{Done: true, Note: fill(answer[1:])}, nil
	default:
		return Change{Found: fill(answer)}, nil
	}
}

// fill puts what follows a format into it.
func fill(answer []string) string {
	if len(answer) == 1 {
		return answer[0]
	}
	return fmt.Sprintf(answer[0], answer[1])
}

// changeFault says what to grant to a user who may not make changes, which may
// show before a script is run or in it.
func changeFault(err error) error {
	var known *Error
	if !errors.As(err, &known) {
		return err
	}
	for _, text := range []string{"The user executing the script can't", "ACL failure in script"} {
		if strings.Contains(known.Err.Error(), text) {
			known.Kind = KindDenied
		}
	}
	if known.Kind == KindDenied {
		known.hint = "let the user change asynq's keys (ACL SETUSER name ~asynq:* +@read +evalsha +eval +lpush +lrem +zadd +zrem +hset +del +sadd +srem +set)"
	}
	return err
}

// sentOnce runs scripts without go-redis sending them again when the connection
// breaks: the first time, they may have done their work. A redirection in a
// cluster is followed, as that server did nothing.
type sentOnce struct{ redis.UniversalClient }

// EvalSha is redis.Scripter's.
func (s sentOnce) EvalSha(ctx context.Context, sha1 string, keys []string, args ...any) *redis.Cmd {
	return s.run(ctx, "evalsha", sha1, keys, args)
}

// Eval is redis.Scripter's.
func (s sentOnce) Eval(ctx context.Context, script string, keys []string, args ...any) *redis.Cmd {
	return s.run(ctx, "eval", script, keys, args)
}

func (s sentOnce) run(ctx context.Context, name, script string, keys []string, args []any) *redis.Cmd {
	all := make([]any, 0, firstKey+len(keys)+len(args))
	all = append(all, name, script, len(keys))
	for _, key := range keys {
		all = append(all, key)
	}
	cmd := redis.NewCmd(ctx, append(all, args...)...)
	cmd.SetFirstKeyPos(firstKey)
	_ = s.Process(ctx, unrepeatable{cmd}) // which leaves the error in cmd
	return cmd
}

// firstKey is where EVAL and EVALSHA have their first key.
const firstKey = 3

type unrepeatable struct{ *redis.Cmd }

// NoRetry is redis.Cmder's.
func (unrepeatable) NoRetry() bool { return true }

// Refused says whether a change that failed with err changed nothing: Redis
// answered that it would not, or was never reached. After any other error
// nobody knows but who looks. A user's missing right that showed only when the
// script was running is such an error too.
func Refused(err error) bool {
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return true
	}
	for _, prefix := range refusedWrites {
		if redis.HasErrorPrefix(err, prefix) {
			return true
		}
	}
	var reply redis.Error
	return errors.As(err, &reply) && !strings.Contains(reply.Error(), "script")
}

// refusedWrites begin the errors by which Redis stops a script at its first
// write, and never at a later one.
var refusedWrites = []string{"OOM", "READONLY", "MISCONF", "NOREPLICAS"}
