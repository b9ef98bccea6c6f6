package config

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// asynqFiles are the names under which the official asynq CLI keeps its settings in the home directory.
var asynqFiles = []string{".asynq.yaml", ".asynq.yml", ".asynq.json"}

// asynqFile reads the settings of the official asynq CLI, of which it takes the keys of a connection. Other keys
// are none of our business. As in that CLI (tools/asynq/cmd/root.go, createRDB), cluster decides whether
// cluster_addrs or uri counts, and letter case does not.
func (r *resolver) asynqFile(cluster Setting[bool]) Redis {
	if r.env.Home == "" {
		return Redis{}
	}
	for _, name := range asynqFiles {
		path := filepath.Join(r.env.Home, name)
		content, err := r.env.readFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			r.errorf(Source{}, "", "cannot read the settings of the asynq CLI: %v", err)
			return Redis{}
		}
		if strings.HasSuffix(name, ".json") {
			// JSON is YAML but for tabs as indentation; a JSON string cannot hold a raw tab.
			content = bytes.ReplaceAll(content, []byte("\t"), []byte(" "))
		}
		level := r.asynqKeys(path, content)
		if cluster.Or(level.Cluster).Value {
			level.URI = Setting[ConnString]{}
		} else {
			level.ClusterAddrs = Setting[[]string]{}
		}
		return level
	}
	return Redis{}
}

func (r *resolver) asynqKeys(path string, content []byte) Redis {
	var level Redis
	doc, syntax := parseDocument(path, content)
	if syntax != nil {
		r.findings.errors = append(r.findings.errors, syntax)
		return level
	}
	if doc.root == nil {
		return level
	}
	mapping, ok := doc.plain(doc.root).(ast.MapNode)
	if !ok {
		r.errorf(doc.at(doc.root), "", "%s, expected a mapping", kindOf(doc.root))
		return level
	}
	d := &decoder{findings: r.findings, doc: doc}
	block := reflect.ValueOf(&level).Elem()
	for _, entry := range d.entries(mapping, "", true) {
		name := strings.ToLower(entry.name)
		field := fieldOf(block, name)
		text, _, single := scalarText(doc.plain(entry.value))
		if empty := doc.plain(entry.value).Type() == ast.NullType || single && text == ""; empty || !field.IsValid() {
			continue
		}
		entry.at.Kind = SourceFallback
		d.value(entry.value, field, name, entry.at, true)
	}
	asFallback(block)
	return level
}

// asFallback marks all settings of a block as those of the asynq CLI's file.
func asFallback(block reflect.Value) {
	for field := range fieldsOf(block.Type()) {
		setting := block.FieldByIndex(field.Index)
		if source := setting.FieldByName("Source"); source.FieldByName("Where").String() != "" {
			source.FieldByName("Kind").SetInt(int64(SourceFallback))
		}
	}
}
