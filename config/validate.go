package config

import (
	"fmt"
	"slices"
)

// Validate checks the configuration as a whole: the file, the context that this request would use with all that
// [Resolve] looks at, and the references in the other contexts. What is wrong in those only warns, for their
// secrets may belong to another machine. The File is nil when there is an error.
func Validate(env Environment, request Request) (*File, error) {
	named, _ := request.Flags.values("config")
	file, err := Load(env, Locate(env, last(named)))
	if err != nil {
		return nil, err
	}
	// Where no context is chosen, each is checked as one of the others.
	chosen := Setting[string]{}
	if settings, err := Resolve(env, request); err == nil {
		chosen = settings.Context.Name
		for _, warning := range settings.Warnings {
			if !slices.Contains(file.Warnings, warning) {
				file.Warnings = append(file.Warnings, warning)
			}
		}
	} else if !isUndecided(file, request, env) {
		return nil, err
	}
	for n, context := range file.Contexts {
		if chosen.IsSet() && context.Name.Value == chosen.Value {
			continue
		}
		r := &resolver{
			findings: &findings{}, expander: expander{env: env, dir: dirOf(file.Path)},
			known: request.Known, fileOnly: true,
		}
		r.settle(context, fmt.Sprintf("contexts[%d]", n))
		for _, one := range r.errors {
			file.Warnings = append(file.Warnings, Warning{Where: one.Where, Key: one.Key, Problem: one.Problem})
		}
		file.Warnings = append(file.Warnings, r.warnings...)
	}
	return file, nil
}

// isUndecided reports whether several contexts exist and nothing chooses one: no mistake of the file.
func isUndecided(file *File, request Request, env Environment) bool {
	r := &resolver{findings: &findings{}, expander: expander{env: env}, flags: request.Flags}
	name := file.CurrentContext
	r.fill(&name, "context")
	return !name.IsSet() && len(file.names()) > 1
}
