package config

// SourceKind says which level of the order of precedence a value came from.
type SourceKind int

// The levels, lowest first. A higher number wins.
const (
	// SourceUnset: nobody gave a value, and there is no default.
	SourceUnset SourceKind = iota
	// SourceDefault: the default of this package.
	SourceDefault
	// SourceFallback: REDIS_URL, DATABASE_URL or the file of the official asynq CLI.
	SourceFallback
	// SourceFile: the configuration file.
	SourceFile
	// SourceEnv: an IDEMCTL_ environment variable.
	SourceEnv
	// SourceFlag: the command line.
	SourceFlag
)

// String gives the word shown to operators: unset, default, fallback, file, env or flag.
func (k SourceKind) String() string {
	switch k {
	case SourceDefault:
		return "default"
	case SourceFallback:
		return "fallback"
	case SourceFile:
		return "file"
	case SourceEnv:
		return "env"
	case SourceFlag:
		return "flag"
	default:
		return "unset"
	}
}

// Source says where a value was written. The zero Source means that it was not.
type Source struct {
	Kind SourceKind
	// Where is a place an operator can go to: "path/config.yaml:12:7", "--db", "IDEMCTL_DB", "REDIS_URL". It is
	// empty for defaults.
	Where string

	line, column int
}

// String gives Where, or the kind for a value that was written nowhere.
func (s Source) String() string {
	if s.Where == "" {
		return s.Kind.String()
	}
	return s.Where
}

// Setting is one value and where it came from. The zero Setting is unset.
type Setting[T any] struct {
	Value  T
	Source Source
}

// IsSet reports whether anybody gave the value; a default counts.
func (s Setting[T]) IsSet() bool { return s.Source.Kind != SourceUnset }

// Or gives the setting itself when it is set, else other.
func (s Setting[T]) Or(other Setting[T]) Setting[T] {
	if s.IsSet() {
		return s
	}
	return other
}

// byDefault is a value that nobody wrote.
func byDefault[T any](value T) Setting[T] {
	return Setting[T]{Value: value, Source: Source{Kind: SourceDefault}}
}

func (s Setting[T]) source() Source { return s.Source }

// sourced is any Setting, whatever it holds.
type sourced interface{ source() Source }

func (s Source) or(other Source) Source {
	if s.Kind != SourceUnset {
		return s
	}
	return other
}
