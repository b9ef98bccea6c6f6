-- Removes a lease of a task that is not active. ARGV[5]: when it ends.

local ends = lease()
if not ends then
	return {"the task has no lease"}
end
if tonumber(ends) ~= tonumber(ARGV[5]) then
	return {"the lease ends at %s now", ends}
end
if redis.call("HGET", KEYS[HASH], "state") == "active" then
	return {"the task is in state %.100q now", "active"}
end
if listed(ACTIVE) then
	return {"the active list holds the task"}
end

redis.call("ZREM", KEYS[LEASE], ARGV[1])
return {}
