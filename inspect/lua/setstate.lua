-- Has the hash say what the set that holds the task says. ARGV[5]: that state.

local to = PLACE[ARGV[5]]
local why = changed() or leased() or held(to)
if why then
	return why
end
if not redis.call("ZSCORE", KEYS[to], ARGV[1]) then
	return {"the %s set does not hold the task", ARGV[5]}
end

redis.call("HSET", KEYS[HASH], "state", ARGV[5])
return {}
