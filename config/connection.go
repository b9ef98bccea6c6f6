package config

import (
	"reflect"
	"slices"
	"strings"
)

// DefaultRedis is the server of the official asynq CLI when none is named.
const DefaultRedis = "127.0.0.1:6379"

// DefaultClusterAddrs are the nodes of the official asynq CLI when --cluster names none.
var DefaultClusterAddrs = []string{
	"127.0.0.1:7000", "127.0.0.1:7001", "127.0.0.1:7002", "127.0.0.1:7003", "127.0.0.1:7004", "127.0.0.1:7005",
}

// redis settles the connection level by level, down to the first that names a server (see the package comment).
func (r *resolver) redis(written Redis, key string) Redis {
	var settled Redis
	r.take(&settled, r.redisOf(r.fillFlagOnly), key)
	r.take(&settled, r.redisOf(r.fillVariableOnly), key)
	if settled.namesServer() {
		r.warnOfUnused(&settled, &written, key)
	} else {
		r.take(&settled, written, key)
	}
	if !settled.namesServer() {
		r.take(&settled, r.redisURL(), key)
	}
	if !settled.namesServer() {
		r.take(&settled, r.asynqFile(settled.Cluster), key)
	}
	switch {
	case settled.namesServer():
	case settled.Cluster.Value:
		settled.ClusterAddrs = byDefault(slices.Clone(DefaultClusterAddrs))
	default:
		settled.URI = byDefault(NewConnString(DefaultRedis))
	}
	if settled.ClusterAddrs.IsSet() {
		settled.Cluster = settled.Cluster.Or(byDefault(true))
	}
	if !settled.SentinelAddrs.IsSet() {
		settled.SentinelMaster = Setting[string]{}
	}
	checkServers(r.findings, &settled, "")
	if db, named := databaseOf(settled.URI.Value.Reveal()); named && !settled.DB.IsSet() {
		settled.DB = Setting[int]{Value: db, Source: settled.URI.Source}
	}
	settled.DB = settled.DB.Or(byDefault(0))
	settled.Source = written.Source
	return settled
}

func (r *resolver) fillFlagOnly(into scalar, name string) { r.fillFlag(into, name, true) }

func (r *resolver) fillVariableOnly(into scalar, name string) { r.fillVariable(into, name, true) }

// redisOf fills a redis block key by key.
func (r *resolver) redisOf(fill func(into scalar, name string)) Redis {
	var level Redis
	block := reflect.ValueOf(&level).Elem()
	for field := range fieldsOf(block.Type()) {
		fill(block.FieldByIndex(field.Index).Addr().Interface().(scalar), field.Tag.Get("yaml"))
	}
	return level
}

func (r *resolver) redisURL() Redis {
	var level Redis
	if uri := r.env.variable("REDIS_URL"); uri != "" {
		source := Source{Kind: SourceFallback, Where: "REDIS_URL"}
		level.URI = Setting[ConnString]{Value: NewConnString(uri), Source: source}
	}
	return level
}

// take adds the keys of a lower level that the levels above left open, and expands them. A server named above
// hides the ones named here, and a login or database in the uri from above hides those.
func (r *resolver) take(settled *Redis, level Redis, key string) {
	if settled.namesServer() {
		level.URI, level.ClusterAddrs, level.SentinelAddrs = Setting[ConnString]{}, Setting[[]string]{}, Setting[[]string]{}
	}
	if uri := settled.URI.Value.Reveal(); uri != "" {
		username, password := loginOf(uri)
		if _, database := databaseOf(uri); database {
			level.DB = Setting[int]{}
		}
		if username || password {
			level.Username = Setting[string]{}
		}
		if password {
			level.Password = Setting[Secret]{}
		}
	}
	into, from := reflect.ValueOf(settled).Elem(), reflect.ValueOf(&level).Elem()
	for field := range fieldsOf(into.Type()) {
		open, given := into.FieldByIndex(field.Index), from.FieldByIndex(field.Index)
		if open.Interface().(sourced).source().Kind == SourceUnset && given.Interface().(sourced).source().Kind != SourceUnset {
			r.expandRedis(given.Addr().Interface(), field.Tag.Get("yaml"), key)
			open.Set(given)
		}
	}
}

// expandRedis expands one key of a redis block in place.
func (r *resolver) expandRedis(setting any, name, block string) {
	key := join(block, name)
	switch s := setting.(type) {
	case *Setting[ConnString]:
		s.Value = NewConnString(r.expanded(s.Source, key, s.Value.Reveal(), true))
	case *Setting[Secret]:
		s.Value = NewSecret(r.expanded(s.Source, key, s.Value.Reveal(), true))
	case *Setting[string]:
		s.Value = r.expanded(s.Source, key, s.Value, false)
		if strings.HasPrefix(name, "tls_") && name != "tls_server" {
			s.Value = r.path(s.Source, s.Value)
		}
	case *Setting[[]string]:
		s.Value = slices.Clone(s.Value)
		for n, address := range s.Value {
			s.Value[n] = r.expanded(s.Source, key, address, false)
		}
	}
}

// expanded is text expanded; a mistake is reported, and so is a uri or dsn that turns out to be empty.
func (r *resolver) expanded(source Source, key, text string, files bool) string {
	value, err := r.expand(source, text, files)
	switch {
	case err != nil:
		r.errorf(source, keyOf(source, key), "%v", err)
	case value == "" && text != "":
		r.errorf(source, keyOf(source, key), "empty once its references are replaced, expected a value")
	}
	return value
}

// keyOf names the key for places in a file; a flag or a variable says its own name.
func keyOf(source Source, key string) string {
	if source.Kind == SourceFile {
		return key
	}
	return ""
}

// warnOfUnused warns when a server named above the file leaves a login or TLS of the file unused: both were
// written for another server.
func (r *resolver) warnOfUnused(settled, written *Redis, key string) {
	var unused []string
	for _, one := range []struct {
		name        string
		file, above sourced
	}{
		{"username", written.Username, settled.Username},
		{"password", written.Password, settled.Password},
		{"tls", written.TLS, settled.TLS},
		{"tls_server", written.TLSServer, settled.TLSServer},
	} {
		if one.file.source().Kind != SourceUnset && one.above.source().Kind == SourceUnset {
			unused = append(unused, one.name)
		}
	}
	if len(unused) == 0 {
		return
	}
	r.warnf(written.Source, key, "%s not used, because %s names another server; give them as flags if they are meant for it",
		strings.Join(unused, ", "), settled.server())
}

// server tells where the server was named.
func (r Redis) server() Source {
	return r.URI.Source.or(r.ClusterAddrs.Source).or(r.SentinelAddrs.Source)
}
