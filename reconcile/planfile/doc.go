// Package planfile keeps a plan of requeue or resolve in a file, for somebody to
// read and for somebody, perhaps another person, to apply.
//
// A plan is one JSON document, schema idemctl.plan/v1. It names the Redis and the
// ledgers it was made on, who made it and when, until when it may be applied, and
// every item with what was decided of it and a digest of the evidence for that.
// Its own digest, over everything else in it, shows that it was altered. That is
// protection against accidents, not against forgery: whoever may write the file
// can compute a digest, too. What an item rests on is read again before it is
// moved, so a forged plan can move no task that requeue would hold, unless it
// says that the operator forced it.
//
// Payloads are not in it; keys are, since a reader decides by them.
package planfile
