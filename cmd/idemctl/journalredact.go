package main

import (
	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/inspect"
	"github.com/idemctl/idemctl/reconcile/journal"
)

// What of a task can hold its payload is hidden, and nothing else is:
//
//	payload            the named fields, or all of it
//	result             the same: handlers write answers about the payload
//	headers            those that are named
//	last error         all of it: its text may quote anything, in any spelling
//	a broken message   all of it: nobody knows where its payload is
//	unknown fields     all of them
//
// Kept are the type, IDs, queue and group, which name the work, and the unique key,
// in which an MD5 of the payload stands: whoever knows all but little of a payload
// can find the rest with it.

// hidePayload hides the payload in a task's image.
func hidePayload(t *journal.TaskImage, hide *render.Hider) {
	for i := range t.Fields {
		f := &t.Fields[i]
		switch {
		case f.Value == "":
		case f.Name == "msg":
			f.Value = hideInMessage(f.Value, hide)
		case f.Name == "result":
			f.Value = string(hide.Payload([]byte(f.Value)))
		case f.Name == "state", f.Name == "pending_since", f.Name == "unique_key", f.Name == "group":
		default:
			f.Value = render.Hidden
		}
	}
}

func hideInMessage(msg string, hide *render.Hider) string {
	all := func([]byte) []byte { return []byte(render.Hidden) }
	hidden, err := inspect.RewritePayload([]byte(msg), inspect.Rewriting{Payload: hide.Payload, LastErr: all, Header: hide.Header})
	if err != nil {
		return render.Hidden
	}
	return string(hidden)
}
