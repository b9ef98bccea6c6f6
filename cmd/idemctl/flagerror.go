package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// plainFlagError says of a flag's value what is expected instead, where the error
// would speak of how Go reads it.
func plainFlagError(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	f := invalid.GetFlag()
	cause := invalid.Unwrap()
	plain := expected(f, cause)
	if plain == cause { //nolint:errorlint // it is either that very error or another
		return err
	}
	return fmt.Errorf("invalid argument %q for --%s: %w", invalid.GetValue(), f.Name, plain)
}

// expected is what a flag's type takes; the cause itself where that is in words
// already.
func expected(f *pflag.Flag, cause error) error {
	var number *strconv.NumError
	ofGo := errors.As(cause, &number) || strings.HasPrefix(cause.Error(), "time: ")
	what := map[string]string{
		"int": "a whole number", "float64": "a number", "bool": "true or false",
		"duration": "a time with its unit, such as 30s or 5m",
	}[f.Value.Type()]
	switch {
	case !ofGo || what == "":
		return cause
	case errors.Is(cause, strconv.ErrRange):
		return errors.New("expected " + what + " that is not so large")
	}
	return errors.New("expected " + what)
}
