-- Has the aggregators see a group that holds tasks.
--
--   KEYS[1] the group   KEYS[2] groups   KEYS[3] aggregation_sets
--   ARGV[1] its name

if redis.call("ZCARD", KEYS[1]) == 0 then
	return {"the group is empty"}
end
if redis.call("ZSCORE", KEYS[3], KEYS[1]) then
	return {"it is a set that is being aggregated"}
end
if redis.call("SADD", KEYS[2], ARGV[1]) == 0 then
	return {"the group is registered already"}
end
return {}
