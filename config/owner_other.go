//go:build !unix

package config

import "io/fs"

// keepOwner does nothing: files have no Unix owner here.
func keepOwner(string, fs.FileInfo) error { return nil }
