package bench

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// row is one contender's line: medians over the rounds.
type row struct {
	contender
	tasks int
	took  time.Duration
	cpu   cpu
	peak  int // bytes; 0: unknown
	// The ratios are medians of those within a round; 0 without a rival.
	timesNaive float64 // how often faster than naive
	timesFloor float64 // how often slower than the floor
}

func newRow(c contender, tasks int, results map[contender][]result) row {
	r := row{contender: c, tasks: tasks}
	var took, client, redis, postgres []time.Duration
	var peak []int
	for _, one := range results[c] {
		took, peak = append(took, one.Took), append(peak, one.Peak)
		client, redis, postgres = append(client, one.cpu.client), append(redis, one.cpu.redis), append(postgres, one.cpu.postgres)
	}
	r.took, r.peak = median(took), median(peak)
	r.cpu = cpu{median(client), median(redis), median(postgres)}
	r.timesNaive = median(ratios(results[contender{naive, quiet}], results[c]))
	r.timesFloor = median(ratios(results[c], results[contender{floor, quiet}]))
	return r
}

// ratios divides the times of two contenders round by round.
func ratios(slow, fast []result) (out []float64) {
	for i := range min(len(slow), len(fast)) {
		out = append(out, float64(slow[i].Took)/float64(fast[i].Took))
	}
	return out
}

func (r row) perSecond() float64 { return float64(r.tasks) / r.took.Seconds() }

// each is a time spread over the tasks, in microseconds.
func (r row) each(d time.Duration) float64 { return float64(d.Microseconds()) / float64(r.tasks) }

// report makes the row a benchmark line.
func (r row) report(b *testing.B) {
	b.ReportMetric(float64(r.took.Nanoseconds()), "ns/op")
	b.ReportMetric(r.perSecond(), "tasks/s")
	b.ReportMetric(r.each(r.cpu.sum()), "cpu-µs/task")
	if r.peak > 0 {
		b.ReportMetric(mebibytes(r.peak), "peak-MiB")
	}
	if r.timesNaive > 0 {
		b.ReportMetric(r.timesNaive, "x-naive")
	}
	if r.timesFloor > 0 {
		b.ReportMetric(r.timesFloor, "x-floor")
	}
}

// report makes what others felt a benchmark line.
func (f felt) report(b *testing.B) {
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(inMillis(percentile(f.pings, 50)), "ping-p50-ms")
	b.ReportMetric(inMillis(percentile(f.pings, 99)), "ping-p99-ms")
	b.ReportMetric(inMillis(f.scriptP99), "script-p99-ms")
	b.ReportMetric(inMillis(f.worst), "longest-ms")
}

type feltRow struct {
	name string
	felt
}

// growth is the peak memory at 100,000 and at 1,000,000 tasks, and how long the
// latter took.
type growth struct {
	from, to int
	took     time.Duration
}

func (g growth) report(b *testing.B) {
	b.ReportMetric(float64(g.took.Nanoseconds()), "ns/op")
	b.ReportMetric(million/g.took.Seconds(), "tasks/s")
	b.ReportMetric(mebibytes(g.to), "peak-MiB")
	b.ReportMetric(g.perTask(), "B/task")
}

// perTask is how many bytes of peak memory each further task adds.
func (g growth) perTask() float64 { return float64(g.to-g.from) / (million - hundredThousand) }

// report is what a person reads at the end.
type report struct {
	tasks  int
	loads  [2]string
	rows   map[string][]row // by path
	trip   time.Duration    // measured on the slow line
	felt   []feltRow
	growth growth
}

func (r *report) begin(tasks int) {
	r.tasks, r.loads[0], r.rows = tasks, load(), map[string][]row{}
}

func (r *report) end() { r.loads[1] = load() }

func (r *report) add(path string, line row) { r.rows[path] = append(r.rows[path], line) }

// text is the tables of what was measured; nothing without any.
func (r *report) text() string {
	var b strings.Builder
	if r.tasks > 0 {
		fmt.Fprintf(&b, "\n%d tasks, %d ledger rows, medians of %d rounds; load average %s before, %s after\n",
			r.tasks, ledgerSize, chosen.rounds, r.loads[0], r.loads[1])
	}
	b.WriteString(r.race("loopback", "loopback"))
	b.WriteString(r.race("1ms", fmt.Sprintf("with a round trip of %s (naive: %d tasks, scaled)", millis(r.trip), slowSample)))
	b.WriteString(r.bystanders())
	if r.growth.from > 0 {
		fmt.Fprintf(&b, "\n1,000,000 tasks: %.1f s, peak %.1f MiB after %.1f MiB at 100,000: %.1f bytes a task\n",
			r.growth.took.Seconds(), mebibytes(r.growth.to), mebibytes(r.growth.from), r.growth.perTask())
	}
	return b.String()
}

func (r *report) race(path, title string) string {
	if len(r.rows[path]) == 0 {
		return ""
	}
	lines := []string{"\ts\ttasks/s\tx naive\tx floor\tCPU µs/task\t= client\t+ Redis\t+ PostgreSQL\tpeak MiB"}
	for _, l := range r.rows[path] {
		lines = append(lines, fmt.Sprintf("%s\t%.2f\t%.0f\t%.1f\t%.2f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f",
			l.contender, l.took.Seconds(), l.perSecond(), l.timesNaive, l.timesFloor,
			l.each(l.cpu.sum()), l.each(l.cpu.client), l.each(l.cpu.redis), l.each(l.cpu.postgres), mebibytes(l.peak)))
	}
	return "\n" + title + "\n" + aligned(lines)
}

func (r *report) bystanders() string {
	if len(r.felt) == 0 {
		return ""
	}
	lines := []string{"what others feel\tPING p50\tp99\tmax\tscript p50\tp99\tlongest command"}
	for _, f := range r.felt {
		lines = append(lines, fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s\t%s", f.name,
			millis(percentile(f.pings, 50)), millis(percentile(f.pings, 99)), millis(percentile(f.pings, 100)),
			millis(f.scriptP50), millis(f.scriptP99), f.worstText()))
	}
	return "\n" + aligned(lines)
}

// aligned puts the cells of lines, between tabs, below one another.
func aligned(lines []string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, l := range lines {
		_, _ = io.WriteString(w, l+"\t\n") // memory takes everything
	}
	_ = w.Flush()
	return b.String()
}

func millis(d time.Duration) string { return fmt.Sprintf("%.2f ms", inMillis(d)) }

func inMillis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func mebibytes(n int) float64 { return float64(n) / (1 << 20) }
