package pgledger

import "testing"

func TestLeadsWantsTheKeyFirstInTheIndex(t *testing.T) {
	for _, c := range []struct {
		columns   []string
		condition string
		want      bool
	}{
		{[]string{"task_id"}, `(task_id = ANY ('{KEY,x}'::text[]))`, true},
		{[]string{"task_id", "n"}, `((task_id)::text = ANY ('{KEY,x}'::text[]))`, true},
		{[]string{`"Task"`}, `(p."Task" = ANY ('{KEY}'::text[]))`, true},
		{[]string{`"a.b"`}, `((p."a.b")::character varying(30) = ANY ('{KEY}'::text[]))`, true},
		{[]string{"status", "task_id"}, `(task_id = ANY ('{KEY}'::text[]))`, false},
		{[]string{"status", "task_id"}, `((status = 'done'::text) AND (task_id = ANY ('{KEY}'::text[])))`, true},
		{[]string{"status", "task_id"}, `((status > 'done'::text) AND (task_id = ANY ('{KEY}'::text[])))`, false},
		{[]string{"task_id"}, `(other = ANY ('{KEY}'::text[]))`, false},
		{nil, `(task_id = ANY ('{KEY}'::text[]))`, false},
	} {
		if got := leads(c.columns, c.condition, "KEY"); got != c.want {
			t.Errorf("index over %q, condition %s: %v", c.columns, c.condition, got)
		}
	}
}
