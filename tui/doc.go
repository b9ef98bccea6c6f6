// Package tui is the interactive browser: one screen that an engineer on call
// keeps open. It shows what reconcile and inspect say, and asks for changes only
// through a plan that is shown and confirmed.
//
// A Model holds a stack of screens, one file each. Screens are told keys and
// replies, and draw themselves; they read nothing. Whatever is read or changed is
// read or changed by a command (commands.go), asked for at a screen's desk
// (desk.go): the reply bears a ticket, and one that nobody waits for any more is
// dropped. When a screen is left its desk is closed, which ends its commands.
package tui
