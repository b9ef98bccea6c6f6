package journal

// EndSettled ends the runs that wrote no end record and of which nothing is
// pending any more: those of writers that were killed, once their items have been
// settled. No other writer can be at work on one as long as this journal is open.
// The journal's own run is left alone. It gives the IDs of the runs it has ended.
//
// It reads the whole file.
func (j *Journal) EndSettled() ([]string, error) {
	var runs []Summary
	for s, err := range Runs(j.path) {
		if err != nil {
			if GoesOn(err) {
				continue // its run may seem settled, and has nothing that can be acted on
			}
			return nil, err
		}
		if s.Ended.IsZero() && s.Pending+s.Unknown == 0 && s.ID != j.running() {
			runs = append(runs, s)
		}
	}
	var ended []string
	for i := range runs {
		if err := j.endKilled(&runs[i]); err != nil {
			return ended, err
		}
		ended = append(ended, runs[i].ID)
	}
	return ended, nil
}

// endKilled ends a run of a writer that was killed.
func (j *Journal) endKilled(s *Summary) error {
	if s.NotBegun == 0 {
		return j.End(s.ID) // all that it was to do was begun, as far as anybody knows
	}
	return j.EndEarly(s.ID, "killed: it wrote no end of its own", s.NotBegun)
}

func (j *Journal) running() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.run.ID
}

// GoesOn says whether a reader yields more after the error: it speaks of one line
// (TornError, DamagedError, GapError) and not of the file.
func GoesOn(err error) bool { return goesOn(err) }
