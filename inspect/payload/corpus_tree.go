package payload

// valueKind is the JSON type of a value.
type valueKind uint8

const (
	kindNull valueKind = iota
	kindBoolean
	kindNumber
	kindString
	kindObject
	kindArray
	kindCount
)

var kindNames = [kindCount]string{"null", "boolean", "number", "string", "object", "array"}

func (t token) valueKind() valueKind {
	switch t.kind {
	case tokenObject:
		return kindObject
	case tokenArray:
		return kindArray
	case tokenString:
		return kindString
	case tokenNumber:
		return kindNumber
	case tokenBool:
		return kindBoolean
	default:
		return kindNull
	}
}

// tree holds the generalised paths of a group: all elements of an array are one
// node. Node 0 is the root, node 1 gathers whatever exceeds maxPaths.
type tree struct{ nodes []node }

const (
	rootNode     int32 = 0
	overflowNode int32 = 1
)

// node is one generalised path and what is counted of it.
type node struct {
	parent  int32
	ordinal int32 // among the members of the parent; -1 for elements
	name    string
	class   nameClass
	members map[string]int32
	element int32 // 0: none

	kinds     [kindCount]int   // occurrences, containers too
	first     [kindCount]int32 // the record that showed the type first
	present   int              // payloads with a scalar here
	values    int              // scalars
	hinted    [hintCount]int   // non-null scalars by what they hint at
	fractions int              // numbers that are not integers
	distinct  map[uint64]struct{}
	cellOf    int32 // record of the latest cell, plus one
	cell      int32 // that cell
	scalarOf  int32 // record of the latest scalar, plus one
	abnormal  bool  // the name is not in normalisation form C
	orders    *orders
}

func (t *tree) plant() {
	t.nodes = append(t.nodes[:0], node{parent: -1, ordinal: -1}, node{parent: -1, ordinal: -1})
}

// member finds the node below an object; grow makes one that is missing.
func (t *tree) member(parent int32, name []byte, grow bool) int32 {
	if parent == overflowNode {
		return overflowNode
	}
	if found, ok := t.nodes[parent].members[string(name)]; ok {
		return found
	}
	if !grow || len(t.nodes) >= maxPaths {
		return overflowNode
	}
	made := int32(len(t.nodes))
	p := &t.nodes[parent]
	if p.members == nil {
		p.members = map[string]int32{}
	}
	n := node{parent: parent, ordinal: int32(len(p.members)), name: string(name), class: classifyName(name), abnormal: !looksNFC(name)}
	p.members[n.name] = made
	t.nodes = append(t.nodes, n)
	return made
}

// elementOf finds the node of an array's elements; grow makes one that is missing.
func (t *tree) elementOf(parent int32, grow bool) int32 {
	if parent == overflowNode {
		return overflowNode
	}
	if found := t.nodes[parent].element; found != 0 {
		return found
	}
	if !grow || len(t.nodes) >= maxPaths {
		return overflowNode
	}
	made := int32(len(t.nodes))
	t.nodes[parent].element = made
	t.nodes = append(t.nodes, node{parent: parent, ordinal: -1, class: t.nodes[parent].class})
	return made
}

// path writes a node as $.a[*].b.
func (t *tree) path(n int32) string {
	var steps []step
	for ; n > overflowNode; n = t.nodes[n].parent {
		one := step{index: -1}
		if t.nodes[n].ordinal >= 0 {
			one = step{isKey: true, name: []byte(t.nodes[n].name)}
		}
		steps = append(steps, one)
	}
	path, _ := formatPath(len(steps), func(i int) step { return steps[len(steps)-1-i] })
	return path
}
