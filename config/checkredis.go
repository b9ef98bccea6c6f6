package config

import (
	"strconv"
	"strings"
)

// checkRedis checks one redis block of a file.
func checkRedis(f *findings, redis *Redis, key string) {
	checkServers(f, redis, key)
	checkReferences(f, redis.URI.Source, key+".uri", redis.URI.Value.Reveal())
	checkReferences(f, redis.Password.Source, key+".password", redis.Password.Value.Reveal())
	checkReferences(f, redis.SentinelPassword.Source, key+".sentinel_password", redis.SentinelPassword.Value.Reveal())
}

// checkServers checks keys that must come together or must not. It serves the blocks of a file, and what [Resolve]
// has put together from several levels.
func checkServers(f *findings, redis *Redis, key string) {
	var named []string
	var last Source
	for _, server := range []struct {
		key    string
		source Source
	}{
		{"uri", redis.URI.Source}, {"cluster_addrs", redis.ClusterAddrs.Source}, {"sentinel_addrs", redis.SentinelAddrs.Source},
	} {
		if server.source.Kind != SourceUnset {
			named, last = append(named, server.key), server.source
		}
	}
	if len(named) > 1 {
		f.errorf(last, key, "%s each name a server, expected one of them", strings.Join(named, " and "))
	}
	checkAddresses(f, redis.ClusterAddrs, join(key, "cluster_addrs"))
	checkAddresses(f, redis.SentinelAddrs, join(key, "sentinel_addrs"))
	together(f, key, "sentinel_addrs", redis.SentinelAddrs, "sentinel_master", redis.SentinelMaster)
	together(f, key, "tls_cert", redis.TLSCert, "tls_key", redis.TLSKey)
	if redis.ClusterAddrs.IsSet() && redis.Cluster.IsSet() && !redis.Cluster.Value {
		f.errorf(redis.Cluster.Source, join(key, "cluster"), "false with cluster_addrs, expected true, or no cluster_addrs")
	}
	if redis.Cluster.Value && redis.SentinelAddrs.IsSet() {
		f.errorf(redis.SentinelAddrs.Source, key, "sentinel_addrs with cluster, expected one of them")
	}
	checkDatabase(f, redis, key)
}

// checkAddresses refuses what is not host:port: it could not be reached, and might be a secret in the wrong place,
// which is why it is not repeated. In a file a reference may stand for any part.
func checkAddresses(f *findings, addresses Setting[[]string], key string) {
	for _, address := range addresses.Value {
		marked := address
		if addresses.Source.Kind == SourceFile {
			marked, _ = markReferences(address)
		}
		if !isAddress(marked) && !isPlaceholders(marked) {
			f.errorf(addresses.Source, key, "an entry that is no address, expected host:port")
			return
		}
	}
}

// checkDatabase refuses a database number that would not be the one that is read.
func checkDatabase(f *findings, redis *Redis, key string) {
	if !redis.DB.IsSet() {
		return
	}
	clustered := redis.Cluster.Value || redis.ClusterAddrs.IsSet()
	inURI, found := databaseOf(redis.URI.Value.Reveal())
	switch {
	case clustered && redis.DB.Value != 0:
		f.errorf(redis.DB.Source, join(key, "db"), "a Redis Cluster has database 0 only, expected 0 or no db")
	case found && inURI != redis.DB.Value && redis.URI.Source.Kind == redis.DB.Source.Kind:
		f.errorf(redis.DB.Source, join(key, "db"), "the uri names another database, expected the number in one of them")
	}
}

// together reports a key without the one it needs.
func together(f *findings, key, oneKey string, one sourced, otherKey string, other sourced) {
	hasOne, hasOther := one.source().Kind != SourceUnset, other.source().Kind != SourceUnset
	switch {
	case hasOne && !hasOther:
		f.errorf(one.source(), key, "%s without %s, expected both", oneKey, otherKey)
	case hasOther && !hasOne:
		f.errorf(other.source(), key, "%s without %s, expected both", otherKey, oneKey)
	}
}

// checkReferences warns of a reference without braces, which is taken literally.
func checkReferences(f *findings, at Source, key, text string) {
	if bareReference.MatchString(text) {
		f.warnf(at, key, "this begins with \"$\" and is taken literally; a reference is written ${NAME}")
	}
}

// databaseOf gives the database number a Redis URI names: the first segment of its path (asynq.go, parseRedisURI),
// or its parameter db (asynq.go, parseRedisSocketURI).
func databaseOf(uri string) (db int, found bool) {
	scheme, rest, isURI := strings.Cut(uri, "://")
	if !isURI {
		return 0, false
	}
	_, path, query := splitHierarchy(rest)
	number := ""
	if scheme != "unix" && scheme != "redis-socket" {
		number, _, _ = strings.Cut(strings.Trim(path, "/"), "/")
	}
	for pair := range strings.SplitSeq(strings.TrimPrefix(query, "?"), "&") {
		if value, isDB := strings.CutPrefix(pair, "db="); isDB {
			number = value
		}
	}
	db, err := strconv.Atoi(number)
	return db, err == nil
}

// loginOf reports which parts of a login a Redis URI holds.
func loginOf(uri string) (username, password bool) {
	_, rest, isURI := strings.Cut(uri, "://")
	if !isURI {
		return false, false
	}
	authority, _, _ := splitHierarchy(rest)
	at := strings.LastIndexByte(authority, '@')
	if at < 0 {
		return false, false
	}
	name, secret, _ := strings.Cut(authority[:at], ":")
	return name != "", secret != ""
}
