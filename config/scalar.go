package config

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// scalar is a Setting that is filled from one piece of text.
type scalar interface {
	// assign reads text and remembers where it stood. An error says what is wrong with the text beyond not being
	// what expects says; its text may be empty.
	assign(text string, source Source) error
	// expects names what the value may be, as it stands after "expected".
	expects() string
	// choices are the words the value may be, or nil when it may be more than a few.
	choices() []string
	// quotable reports whether the value may be written in quotes: numbers and booleans may not.
	quotable() bool
}

// parsed is a type of this package that reads its own text.
type parsed interface {
	parse(text string) error
	expects() string
}

func (s *Setting[T]) assign(text string, source Source) error {
	var err error
	switch value := any(&s.Value).(type) {
	case *string:
		*value, err = parseText(text)
	case *[]string:
		*value, err = parseList(text)
	case *Secret:
		*value = NewSecret(text)
	case *bool:
		*value, err = parseBool(text, source)
	case *int:
		*value, err = parseCount(text)
	case *time.Duration:
		*value, err = ParseDuration(text)
	case parsed:
		err = value.parse(text)
	}
	if err != nil {
		var zero T
		s.Value = zero
		return err
	}
	s.Source = source
	return nil
}

func (s *Setting[T]) expects() string {
	switch value := any(&s.Value).(type) {
	case *bool:
		return "true or false"
	case *int:
		return "a whole number, zero or more"
	case *time.Duration:
		return "a duration such as 90s, 2m or 30d"
	case *Secret:
		return "a single text"
	case *[]string:
		return "a list, or one text with commas"
	case parsed:
		return value.expects()
	default:
		return "a text that is not empty"
	}
}

func (s *Setting[T]) choices() []string {
	if value, ok := any(&s.Value).(interface{ choices() []string }); ok {
		return value.choices()
	}
	return nil
}

func (s *Setting[T]) quotable() bool {
	switch any(&s.Value).(type) {
	case *bool, *int:
		return false
	default:
		return true
	}
}

func parseText(text string) (string, error) {
	if strings.TrimSpace(text) == "" {
		return "", errNotThat
	}
	return text, nil
}

// parseList reads "a,b,c", the form of the official asynq CLI.
func parseList(text string) ([]string, error) {
	var out []string
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			return nil, errNotThat
		}
		out = append(out, item)
	}
	return out, nil
}

// parseBool takes true and false; from the environment and from flags also what strconv.ParseBool takes, as pflag
// does.
func parseBool(text string, source Source) (bool, error) {
	switch {
	case text == "true" || text == "false":
		return text == "true", nil
	case source.Kind == SourceEnv || source.Kind == SourceFlag:
		value, err := strconv.ParseBool(text)
		if err != nil {
			return false, errNotThat
		}
		return value, nil
	default:
		return false, errNotThat
	}
}

func parseCount(text string) (int, error) {
	if text == "" || strings.Trim(text, "0123456789") != "" || len(text) > 1 && text[0] == '0' {
		return 0, errNotThat
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, errNotThat
	}
	return int(n), nil
}

// text gives a scalar's value as the file would say it, secrets masked.
func (s Setting[T]) text() string {
	switch value := any(s.Value).(type) {
	case string:
		return value
	case []string:
		return strings.Join(value, ",")
	case bool:
		return strconv.FormatBool(value)
	case int:
		return strconv.Itoa(value)
	case time.Duration:
		return FormatDuration(value)
	case interface{ String() string }:
		return value.String()
	default:
		return ""
	}
}

// jsonString is text as a JSON string.
func jsonString(text string) []byte {
	out, err := json.Marshal(text)
	if err != nil {
		return []byte(`"` + masked + `"`)
	}
	return out
}
