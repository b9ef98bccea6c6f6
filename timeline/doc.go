// Package timeline draws the life of an asynq task as lines of text: when each
// attempt can start and how long it can take, on a logarithmic axis from the
// enqueue (t0) to the longest life, with the end of the uniqueness lock marked
// in every line.
//
// It only draws: the windows come from package retry, colours from the caller,
// who is told what each stretch of text is (Role). Every character it writes is
// one terminal cell wide, and a drawing means the same without colour.
package timeline
