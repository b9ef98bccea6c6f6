package inspect

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// chunk is the most tasks or keys that one pipeline asks for.
const chunk = 500

// exec runs a pipeline and returns the first failure among its commands.
func exec(ctx context.Context, pipe redis.Pipeliner) error {
	if pipe.Len() == 0 {
		return nil
	}
	cmds, err := pipe.Exec(ctx)
	for _, cmd := range cmds {
		if failure(cmd.Err()) {
			return cmd.Err()
		}
	}
	if failure(err) {
		return err
	}
	return nil
}

// failure says whether a command failed for another reason than that its key is
// absent, or holds another type, which reads as absent: anybody may have written
// it.
func failure(err error) bool {
	return err != nil && !errors.Is(err, redis.Nil) && !wrongType(err)
}

// wrongType says whether a key holds another type than the command is for.
func wrongType(err error) bool {
	return redis.HasErrorPrefix(err, "WRONGTYPE")
}

// isReply says whether the server answered at all, be it with an error.
func isReply(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply)
}

// refused says whether the user's ACL forbids the command.
func refused(err error) bool {
	return redis.HasErrorPrefix(err, "NOPERM")
}
