package config

import "reflect"

// Parse reads and checks the text of a configuration file; path only serves the places in errors. It looks at
// nothing outside of content: references such as ${NAME} stay as they are until [Resolve]. A wrong file gives
// [Errors], and no File. Empty content gives an empty File.
func Parse(path string, content []byte) (*File, error) {
	file, found := parse(path, content)
	if err := found.err(); err != nil {
		return nil, err
	}
	file.Warnings = found.warnings
	return file, nil
}

// parse is Parse with what was read even where mistakes were found.
func parse(path string, content []byte) (*File, *findings) {
	found := &findings{}
	file := &File{Path: path}
	doc, err := parseDocument(path, content)
	if err != nil {
		found.errors = append(found.errors, err)
		return file, found
	}
	if doc.root == nil {
		return file, found
	}
	d := &decoder{findings: found, doc: doc}
	d.value(doc.root, reflect.ValueOf(file).Elem(), "", doc.at(doc.root), false)
	checkFile(found, file)
	return file, found
}
