package render
import ("testing";"fmt";"github.com/olekukonko/tablewriter/pkg/twwidth")
func TestZ(t *testing.T) {
	for _, s := range append(tricks, "a"+ellipsis, "→", "·", "✗") { v:=Visible(s); for _, v := range []string{v, fit(v,8), pad(fit(v,8),8)} { if twwidth.Width(v)!=width(v) { fmt.Printf("%q %d %d\n", v, twwidth.Width(v), width(v)) } } }
}
