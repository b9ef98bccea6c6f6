package render

import (
	"fmt"
	"io"
	"testing"
)

func BenchmarkFinding(b *testing.B) {
	for _, format := range []Format{FormatNDJSON, FormatJSON, FormatCSV, FormatTable} {
		b.Run(string(format), func(b *testing.B) {
			b.Setenv("TMPDIR", b.TempDir())
			a := NewAudit(io.Discard, sampleOptions(format, 80, format == FormatTable))
			f := sampleFindings()[1]
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				f.Task.ID = fmt.Sprintf("task-%d", i)
				a.Finding(f)
			}
			if err := a.Close(sampleReport(b), sampleHeader()); err != nil {
				b.Fatal(err)
			}
		})
	}
}
