-- Deletes a uniqueness lock that guards nothing.
--
--   KEYS[1] the lock   KEYS[2] the owner's hash   KEYS[3] lease
--   ARGV[1] the owner's ID   ARGV[2] absent or elsewhere   ARGV[3] the owner's
--   fingerprint, if elsewhere

local owner = redis.call("GET", KEYS[1])
if not owner then
	return {"nobody holds the lock"}
end
if owner ~= ARGV[1] then
	return {"the lock belongs to %.100q now", owner}
end

if ARGV[2] == "absent" then
	if redis.call("EXISTS", KEYS[2]) == 1 then
		return {"its owner %.100q exists", owner}
	end
	-- A worker may be running a task whose hash was lost.
	local ends = redis.call("ZSCORE", KEYS[3], owner)
	if ends and tonumber(ends) > tonumber(redis.call("TIME")[1]) - GRACE then
		return {"a worker may be running its owner: that lease ends at %s", ends}
	end
else
	if fingerprint(KEYS[2]) ~= ARGV[3] then
		return {"its owner %.100q has changed since it was read", owner}
	end
	local has = redis.call("HMGET", KEYS[2], "unique_key", "msg")
	-- A grouped task's lock is named in its message alone.
	if has[1] == KEYS[1] or has[2] and string.find(has[2], KEYS[1], 1, true) then
		return {"its owner %.100q was enqueued with this very lock", owner}
	end
end

redis.call("DEL", KEYS[1])
return {}
