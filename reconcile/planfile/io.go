package planfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/idemctl/idemctl/inspect"
)

// MaxSize is the most bytes a plan file may have.
const MaxSize = 256 << 20

// Error says why a plan is refused.
type Error struct {
	Path string
	Err  error
	Hint string
}

func (e *Error) Error() string { return fmt.Sprintf("plan %q: %v", e.Path, e.Err) }
func (e *Error) Unwrap() error { return e.Err }

func (f *File) digest() (string, error) {
	bare := *f
	bare.Digest = ""
	b, err := json.Marshal(&bare)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// Write writes the file as a whole or not at all, readable by its owner alone. It
// replaces another plan, and no other file.
func (f *File) Write(path string) error {
	if err := replaceable(path); err != nil {
		return &Error{Path: path, Err: err, Hint: "name another file with --plan-out"}
	}
	b, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return &Error{Path: path, Err: err}
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".idemctl-plan-*") // mode 0600
	if err != nil {
		return &Error{Path: path, Err: err}
	}
	_, err = tmp.Write(append(b, '\n'))
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return &Error{Path: path, Err: errors.Join(err, os.Remove(tmp.Name()))}
	}
	return nil
}

// replaceable refuses to overwrite what is no plan.
func replaceable(path string) error {
	stat, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !stat.Mode().IsRegular() {
		return errors.New("it exists, and is no regular file")
	}
	if _, err := read(path); err != nil {
		return errors.New("it exists, and is no plan")
	}
	return nil
}

// Read reads a plan, and refuses one that was altered since it was written.
func Read(path string) (*File, error) {
	f, err := read(path)
	if err != nil {
		return nil, &Error{Path: path, Err: err, Hint: "make one: idemctl requeue … --plan-out FILE"}
	}
	digest, err := f.digest()
	if err != nil || digest != f.Digest {
		return nil, &Error{Path: path, Err: errors.New("it was altered since it was made: its digest does not match"), Hint: "make a new plan"}
	}
	return f, nil
}

func read(path string) (*File, error) {
	if stat, err := os.Stat(path); err == nil && !stat.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close() //nolint:errcheck // it is only read
	b, err := io.ReadAll(io.LimitReader(in, MaxSize+1))
	if err != nil {
		return nil, err
	}
	if len(b) > MaxSize {
		return nil, fmt.Errorf("it is longer than %d bytes", MaxSize)
	}
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, fmt.Errorf("it is no JSON document: %w", inWords(err))
	}
	if head.Schema != Schema {
		return nil, fmt.Errorf("its schema is %q, not %q", head.Schema, Schema)
	}
	var f File
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, inWords(err)
	}
	return &f, nil
}

// inWords says which value of a document is of another kind than a plan has there.
func inWords(err error) error {
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind) && kind.Field == "":
		return fmt.Errorf("it is %s, expected %s", article(kind.Value), kindOf(kind.Type))
	case errors.As(err, &kind):
		return fmt.Errorf("its %s is %s, expected %s", kind.Field, article(kind.Value), kindOf(kind.Type))
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

func article(kind string) string {
	if kind == "object" || kind == "array" {
		return "an " + kind
	}
	return "a " + kind
}

// kindOf is the kind of JSON value that a Go type is read from.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a string"
}

// Fits refuses a plan that has expired, or that was made on another Redis or with
// other ledgers.
func (f *File) Fits(path string, now time.Time, redis inspect.Identity, ledgers []Ledger) error {
	if !now.Before(f.ExpiresAt) {
		return &Error{Path: path, Err: fmt.Errorf("it expired at %s", f.ExpiresAt.Format(time.RFC3339)), Hint: "make a new plan"}
	}
	made := inspect.Identity{Mode: f.Redis.Mode, Addr: f.Redis.Addr, DB: f.Redis.DB, RunIDs: f.Redis.RunIDs}
	if why := made.Differs(redis); why != "" {
		return &Error{Path: path, Err: fmt.Errorf("this is not the Redis that it was made on: %s", why), Hint: "connect to the one it was made on, or make a new plan"}
	}
	for _, was := range f.Ledgers {
		found := false
		for _, is := range ledgers {
			found = found || is == was
		}
		if !found {
			return &Error{
				Path: path, Err: fmt.Errorf("it was made with ledger %s (%s %s), which is not configured here", was.Name, was.Kind, was.Server),
				Hint: "use the configuration and context that it was made with, or make a new plan",
			}
		}
	}
	return nil
}
