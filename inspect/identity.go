package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Identity tells one Redis from another: what a plan was made on is what it may
// be applied to.
type Identity struct {
	Mode string // standalone, sentinel or cluster
	Addr string // without secrets; two names may lead to one server
	DB   int
	// RunIDs are the run_id of every master, sorted: they change with each start of
	// a server. Nil where a server or its ACL does not tell.
	RunIDs []string
}

// Identity asks every master who it is.
func (c *Client) Identity(ctx context.Context) (Identity, error) {
	id := Identity{Mode: c.target.mode.String(), Addr: c.target.address(), DB: c.target.DB}
	mute := false
	err := c.eachMaster(ctx, func(ctx context.Context, node commander) error {
		text, err := node.Info(ctx, "server").Result()
		if err != nil && !isReply(err) {
			return err
		}
		var f RedisFacts
		f.addSection(text)
		mute = mute || f.RunID == ""
		id.RunIDs = append(id.RunIDs, f.RunID)
		return nil
	})
	if err != nil {
		return id, c.fault(ctx, "asking who the server is", err)
	}
	slices.Sort(id.RunIDs)
	if mute {
		id.RunIDs = nil
	}
	return id, nil
}

// Differs says in words why another identity is not this Redis; "" where it is,
// as far as they tell. Where both tell their run IDs, addresses do not count.
func (i Identity) Differs(other Identity) string {
	switch {
	case i.DB != other.DB:
		return fmt.Sprintf("database %d instead of %d", other.DB, i.DB)
	case len(i.RunIDs) > 0 && len(other.RunIDs) > 0:
		if slices.Equal(i.RunIDs, other.RunIDs) {
			return ""
		}
		return fmt.Sprintf("run id %s instead of %s: another server, or this one was started again or failed over",
			strings.Join(other.RunIDs, ", "), strings.Join(i.RunIDs, ", "))
	case i.Addr != other.Addr:
		return fmt.Sprintf("address %s instead of %s", other.Addr, i.Addr)
	}
	return ""
}

// String is the identity in one line, such as 127.0.0.1:6379/0#RUNID: for journals.
func (i Identity) String() string {
	s := fmt.Sprintf("%s/%d", i.Addr, i.DB)
	if len(i.RunIDs) > 0 {
		s += "#" + strings.Join(i.RunIDs, ",")
	}
	return s
}

// Same says whether text, as String wrote it once, can be this Redis: it has the
// address and database, or the run IDs (a server is known by many names) and the
// database. A server that was started again keeps its address alone. "" can be any.
func (i Identity) Same(text string) bool {
	place, ids, _ := strings.Cut(text, "#")
	db := fmt.Sprintf("/%d", i.DB)
	switch {
	case text == "", place == i.Addr+db:
		return true
	case ids == "" || len(i.RunIDs) == 0 || !strings.HasSuffix(place, db):
		return false
	}
	return ids == strings.Join(i.RunIDs, ",")
}

// Restarted says whether text, which can be this Redis by its address (see Same),
// has other run IDs: the server was started again or failed over since, or the
// address leads to another one. Nobody can tell which of these it is. It is false
// where one of them does not tell.
func (i Identity) Restarted(text string) bool {
	_, ids, _ := strings.Cut(text, "#")
	return i.Same(text) && ids != "" && len(i.RunIDs) > 0 && ids != strings.Join(i.RunIDs, ",")
}
