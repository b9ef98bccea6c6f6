package render

import (
	"github.com/idemctl/idemctl/internal/face"
	"github.com/idemctl/idemctl/reconcile"
)

// paint colours text, or leaves it alone. Colour only repeats what a shape and a
// word already say.
type paint bool

const (
	sgrReset   = "\x1b[0m"
	sgrBold    = "\x1b[1m"
	sgrDim     = "\x1b[2m"
	sgrRed     = "\x1b[31m"
	sgrGreen   = "\x1b[32m"
	sgrYellow  = "\x1b[33m"
	sgrCyan    = "\x1b[36m"
	sgrBoldRed = "\x1b[1;31m"
)

func (p paint) with(sgr, s string) string {
	if !p || s == "" || sgr == "" {
		return s
	}
	return sgr + s + sgrReset
}

func (p paint) bold(s string) string    { return p.with(sgrBold, s) }
func (p paint) dim(s string) string     { return p.with(sgrDim, s) }
func (p paint) command(s string) string { return p.with(sgrCyan, s) }

// severity colours text by how bad it is.
func (p paint) severity(s reconcile.Severity, text string) string {
	switch s {
	case reconcile.SeverityCritical:
		return p.with(sgrBoldRed, text)
	case reconcile.SeverityHigh:
		return p.with(sgrRed, text)
	case reconcile.SeverityWarning:
		return p.with(sgrYellow, text)
	case reconcile.SeverityInfo:
		return p.with(sgrDim, text)
	default:
		return text
	}
}

// shape is a severity's sign, told apart without colour.
func shape(s reconcile.Severity) string { return face.Sign(s.String()) }
