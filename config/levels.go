package config

import (
	"maps"
	"slices"
)

// fillFlag gives a setting the value of a flag and reports whether that was given. A secret is never repeated in
// an error.
func (r *resolver) fillFlag(into scalar, name string, secret bool) bool {
	values, spelt := r.flags.values(name)
	if len(values) == 0 {
		return false
	}
	if list, ok := into.(*Setting[[]string]); ok {
		r.fillList(list, values, flagSource(spelt), secret)
		return true
	}
	r.assign(into, last(values), flagSource(spelt), "", secret)
	return true
}

// fillList joins the values of a repeated flag, each perhaps with commas.
func (r *resolver) fillList(into *Setting[[]string], values []string, at Source, secret bool) {
	var all []string
	for _, value := range values {
		var one Setting[[]string]
		r.assign(&one, value, at, "", secret)
		all = append(all, one.Value...)
	}
	*into = Setting[[]string]{Value: all, Source: at}
}

// fillVariable gives a setting the value of a flag's environment variable, if that is not empty.
func (r *resolver) fillVariable(into scalar, name string, secret bool) {
	variable := Variable(name)
	if text := r.variable(variable); text != "" {
		r.assign(into, text, envSource(variable), "", secret)
	}
}

// variable gives an IDEMCTL_ variable, or "" for one that is unset or not looked at.
func (r *resolver) variable(name string) string {
	if r.fileOnly {
		return ""
	}
	return r.env.variable(name)
}

// fill gives a setting the first of flag and environment variable that is there. It changes nothing when neither
// is.
func (r *resolver) fill(into scalar, name string) {
	if !r.fillFlag(into, name, false) {
		r.fillVariable(into, name, false)
	}
}

// otherFlags settles the flags that have no key of their own: those of the environment, then those of the file.
// Flags that were given are left out.
func (r *resolver) otherFlags(written map[string]Setting[[]string], key string) map[string]Setting[[]string] {
	settled := map[string]Setting[[]string]{}
	for _, name := range r.known {
		if _, home := homes[canonicalFlag(name)]; home {
			continue
		}
		if values, _ := r.flags.values(name); len(values) > 0 {
			continue
		}
		if text := r.variable(Variable(name)); text != "" {
			settled[name] = Setting[[]string]{Value: []string{text}, Source: envSource(Variable(name))}
			continue
		}
		for spelt, value := range written {
			if canonicalFlag(spelt) == canonicalFlag(name) {
				settled[name] = value
			}
		}
	}
	if r.known == nil {
		return settled
	}
	for _, spelt := range slices.Sorted(maps.Keys(written)) {
		known := slices.ContainsFunc(r.known, func(name string) bool {
			return canonicalFlag(name) == canonicalFlag(spelt)
		})
		if !known {
			r.errorf(written[spelt].Source, join(key+".flags", spelt), "no such flag, expected the name of a flag%s",
				didYouMean(spelt, r.known))
		}
	}
	return settled
}
