-- Gives an active task that has no lease one that has run out, for the
-- recoverer to take it. ARGV[5]: when it ran out, in seconds.

local why = changed() or leased() or held(ACTIVE)
if why then
	return why
end
if not listed(ACTIVE) then
	return {"the active list does not hold the task"}
end

redis.call("ZADD", KEYS[LEASE], "NX", ARGV[5], ARGV[1])
return {}
