-- Deletes a hash that has a result, and neither a message nor a state.

if redis.call("EXISTS", KEYS[HASH]) == 0 then
	return {"the task is gone"}
end
local has = redis.call("HMGET", KEYS[HASH], "msg", "state", "result")
if has[1] or has[2] then
	return {"a task has the ID now"}
end
if not has[3] then
	return {"the hash has no result"}
end
if fingerprint(KEYS[HASH]) ~= ARGV[3] then
	return {"the task's stored fields have changed since they were read"}
end

redis.call("DEL", KEYS[HASH])
return {}
