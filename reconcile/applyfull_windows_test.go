package reconcile_test

import "errors"

func limitFiles(limit uint64) error {
	if limit == 0 {
		return nil
	}
	return errors.New("nothing limits files here")
}

func isFull(error) bool { return false }
