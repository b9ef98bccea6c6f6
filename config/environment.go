package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Environment is what this package may know of the machine. [Machine] gives the real one; tests give their own.
type Environment struct {
	// LookupEnv finds an environment variable. Nil means that none is set.
	LookupEnv func(name string) (value string, set bool)
	// Home is the home directory, or "" when there is none.
	Home string
	// ReadFile reads a whole file. An error that is fs.ErrNotExist means that there is none. Nil means that no
	// file exists.
	ReadFile func(path string) ([]byte, error)
	// Stat gives a file's mode, to warn of passwords others can read. Nil means that nothing is warned of.
	Stat func(path string) (fs.FileInfo, error)
	// Windows selects %AppData% and %LocalAppData% over the XDG directories, and ignores file modes.
	Windows bool
}

// Machine is the environment this process runs in.
func Machine() Environment {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	return Environment{
		LookupEnv: os.LookupEnv,
		Home:      home,
		ReadFile:  os.ReadFile,
		Stat:      os.Stat,
		Windows:   runtime.GOOS == "windows",
	}
}

func (env Environment) lookup(name string) (string, bool) {
	if env.LookupEnv == nil {
		return "", false
	}
	return env.LookupEnv(name)
}

// variable gives an environment variable, and "" for an empty one as for an unset one.
func (env Environment) variable(name string) string {
	value, _ := env.lookup(name)
	return value
}

func (env Environment) readFile(path string) ([]byte, error) {
	if env.ReadFile == nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return env.ReadFile(path)
}

// resolvePath expands a leading "~/" and starts relative paths at dir.
func (env Environment) resolvePath(dir, path string) string {
	if rest, found := strings.CutPrefix(path, "~/"); found && env.Home != "" {
		return filepath.Join(env.Home, rest)
	}
	if path == "" || dir == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// baseDirectory is a base directory of the XDG specification: the variable when it holds an absolute path (the
// specification says to ignore others), else the directory under home. On Windows it is the folder named by
// windowsVariable. It is "" when neither is known.
func (env Environment) baseDirectory(variable, underHome, windowsVariable string) string {
	if env.Windows {
		return env.variable(windowsVariable)
	}
	if dir := env.variable(variable); filepath.IsAbs(dir) {
		return dir
	}
	if env.Home == "" {
		return ""
	}
	return filepath.Join(env.Home, underHome)
}

// Location is where the configuration file is expected.
type Location struct {
	// Path of the file; "" when this machine has neither a home directory nor a variable that names one.
	Path string
	// Named is true when the operator named this very file: it must then exist.
	Named bool
	// Source says who named the file, or that it is the default place.
	Source Source
}

// Locate finds the configuration file: --config (named, when not empty), IDEMCTL_CONFIG, config.yaml in
// IDEMCTL_CONFIG_DIR, in $XDG_CONFIG_HOME/idemctl, or in ~/.config/idemctl (on Windows in %AppData%\idemctl). The
// first that is set decides, whether its file exists or not. The first two name the file itself.
func Locate(env Environment, named string) Location {
	if named != "" {
		return Location{Path: named, Named: true, Source: Source{Kind: SourceFlag, Where: "--config"}}
	}
	if path := env.variable("IDEMCTL_CONFIG"); path != "" {
		return Location{Path: path, Named: true, Source: Source{Kind: SourceEnv, Where: "IDEMCTL_CONFIG"}}
	}
	if dir := env.variable("IDEMCTL_CONFIG_DIR"); dir != "" {
		return Location{
			Path:   filepath.Join(dir, "config.yaml"),
			Source: Source{Kind: SourceEnv, Where: "IDEMCTL_CONFIG_DIR"},
		}
	}
	place := Location{Source: Source{Kind: SourceDefault}}
	if base := env.baseDirectory("XDG_CONFIG_HOME", ".config", "AppData"); base != "" {
		place.Path = filepath.Join(base, "idemctl", "config.yaml")
	}
	return place
}

// Load reads and checks the file at place. A file that is missing gives an empty File, unless the operator named
// it. The error is [Errors] when the file was read and is wrong; File is then nil.
func Load(env Environment, place Location) (*File, error) {
	if place.Path == "" {
		return &File{}, nil
	}
	content, err := env.readFile(place.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !place.Named:
		return &File{}, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, &Error{
			Where:   place.Source.Where,
			Problem: fmt.Sprintf("there is no configuration file %s", place.Path),
			Hint:    "idemctl config init --config " + place.Path, cause: fs.ErrNotExist,
		}
	case err != nil:
		return nil, &Error{Where: place.Source.Where, Problem: fmt.Sprintf("cannot read the configuration: %v", err), cause: err}
	}
	file, err := Parse(place.Path, content)
	if err != nil {
		return nil, err
	}
	file.warnOfReaders(env)
	return file, nil
}

// JournalFile is where the journal is kept when nobody says otherwise: journal.jsonl in $XDG_STATE_HOME/idemctl or
// ~/.local/state/idemctl (on Windows in %LocalAppData%\idemctl). It is "" when there is no such place.
func JournalFile(env Environment) string {
	base := env.baseDirectory("XDG_STATE_HOME", filepath.Join(".local", "state"), "LocalAppData")
	if base == "" {
		return ""
	}
	return filepath.Join(base, "idemctl", "journal.jsonl")
}
