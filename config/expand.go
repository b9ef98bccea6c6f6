package config

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// referencePattern is ${NAME}, NAME being what a shell allows.
var referencePattern = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*\}`)

// bareReference is $NAME alone, which is taken literally and rarely meant so.
var bareReference = regexp.MustCompile(`^\$[A-Z_][A-Z0-9_]*$`)

const fileReference = "file:"

// maxSecretFile is the largest file that file:PATH reads, in bytes.
const maxSecretFile = 64 << 10

// expandReferences replaces each ${NAME} by that environment variable; "$${" gives "${". A variable that is set
// and empty gives nothing. Errors name the variable, never what stands around it.
func expandReferences(env Environment, text string) (string, error) {
	var out strings.Builder
	for {
		at := strings.Index(text, "${")
		if at < 0 {
			out.WriteString(text)
			return out.String(), nil
		}
		if at > 0 && text[at-1] == '$' {
			out.WriteString(text[:at-1] + "${")
			text = text[at+2:]
			continue
		}
		reference := referencePattern.FindString(text[at:])
		if !strings.HasPrefix(text[at:], reference) || reference == "" {
			return "", fmt.Errorf(`"${" begins no reference, expected ${NAME} with NAME of letters, digits and "_" (a literal "${" is written "$${")`)
		}
		name := reference[len("${") : len(reference)-len("}")]
		value, set := env.lookup(name)
		if !set {
			return "", fmt.Errorf("environment variable %s is not set, expected it to hold this value", name)
		}
		out.WriteString(text[:at] + value)
		text = text[at+len(reference):]
	}
}

// expandFile reads file:PATH, without the one line break that editors and "echo" leave at the end. A relative
// PATH starts at dir.
func expandFile(env Environment, dir, text string) (string, error) {
	path, isFile := strings.CutPrefix(text, fileReference)
	if !isFile {
		return text, nil
	}
	path = env.resolvePath(dir, path)
	content, err := env.readFile(path)
	switch {
	case err != nil:
		return "", fmt.Errorf("cannot read the secret: %w", err)
	case len(content) > maxSecretFile:
		return "", fmt.Errorf("secret file %s is larger than %d bytes, expected one secret", path, maxSecretFile)
	}
	secret := strings.TrimSuffix(strings.TrimSuffix(string(content), "\n"), "\r")
	if secret == "" {
		return "", fmt.Errorf("secret file %s is empty, expected one secret", path)
	}
	return secret, nil
}

// isLiteral reports whether a secret is written out, rather than referred to.
func isLiteral(text string) bool {
	return text != "" && !strings.HasPrefix(text, fileReference) && referencePattern.ReplaceAllString(text, "") != ""
}

// expander turns what was written for one value into the value, for the level it was written on.
type expander struct {
	env Environment
	// dir is where relative paths start: the directory of the configuration file, or "" for the working directory.
	dir string
}

// expand resolves references as far as the level of source allows (see the package comment). files says whether
// the value may be file:PATH.
func (e expander) expand(source Source, text string, files bool) (string, error) {
	switch source.Kind {
	case SourceFile, SourceFlag:
		if files && strings.HasPrefix(text, fileReference) {
			return expandFile(e.env, e.base(source), text)
		}
		return expandReferences(e.env, text)
	case SourceEnv:
		if files {
			return expandFile(e.env, "", text)
		}
	}
	return text, nil
}

// path resolves a file name written on the level of source.
func (e expander) path(source Source, path string) string {
	return e.env.resolvePath(e.base(source), path)
}

func (e expander) base(source Source) string {
	if source.Kind == SourceFile {
		return e.dir
	}
	return ""
}

// dirOf is the directory that paths in the configuration file are relative to.
func dirOf(file string) string {
	if file == "" {
		return ""
	}
	return filepath.Dir(file)
}
