package payload

// Faults lists the faults of one payload: what Check finds with severity Error,
// but only the first finding of each rule, in the order of the payload. It is made
// for going over whole queues: a payload without a fault costs one parse, and no
// canonical form is written. What is not JSON has none, and is a warning of Check.
func Faults(payload []byte) []Finding {
	if len(payload) == 0 {
		return nil
	}
	s := takeParser()
	defer s.giveBack()
	if s.parse(payload, nil) != nil || s.isFaultless() {
		return nil
	}
	s.found = collector{faultsOnly: true}
	if s.parse(payload, &s.found) != nil {
		return nil
	}
	s.found.finish()
	return s.found.findings
}

// isFaultless says whether at most the order of members, which is no fault by
// itself, keeps the payload from being its own canonical form.
func (d *document) isFaultless() bool {
	return d.undefined == RuleUnknown && !d.respelt && d.body == 0 && d.end == len(d.payload)
}
