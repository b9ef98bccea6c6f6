-- Removes an ID without a hash from the list or set of a state. ARGV[5]: the
-- group. A worker may be running a task whose hash was lost, and will write it
-- anew if it is to be retried: then its ID is no rubbish.

if redis.call("EXISTS", KEYS[HASH]) == 1 then
	return {"the task has a hash"}
end
local state, id, group = ARGV[4], ARGV[1], ARGV[5]
local dropped = 0

if state == "pending" then
	dropped = redis.call("LREM", KEYS[PENDING], 0, id)
elseif state == "active" then
	local why = running()
	if why then
		return why
	end
	dropped = redis.call("LREM", KEYS[ACTIVE], 0, id)
	if dropped > 0 then
		redis.call("ZREM", KEYS[LEASE], id)
	end
elseif state == "aggregating" then
	redis.call("SISMEMBER", KEYS[GROUPS], group)
	dropped = redis.call("ZREM", ARGV[2] .. group, id)
	if dropped > 0 and redis.call("EXISTS", ARGV[2] .. group) == 0 then
		redis.call("SREM", KEYS[GROUPS], group)
	end
else
	dropped = redis.call("ZREM", KEYS[PLACE[state]], id)
end

if dropped == 0 then
	return {"the ID is no longer among the %s tasks", state}
end
return {}
