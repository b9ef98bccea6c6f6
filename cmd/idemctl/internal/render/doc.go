// Package render turns what an audit found into text: a report for a terminal,
// plain columns for a pipe, and the machine formats. It knows no command line
// and asks no server; all it needs is a writer, options and facts.
//
// Everything that came out of a queue is hostile. Human formats pass it through
// [Visible]; JSON escapes it; CSV and Markdown have guards of their own.
package render
