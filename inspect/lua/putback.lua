-- Puts a ghost back where its state says. ARGV[5]: the score, in seconds.
-- Workers take from the tail of pending, so that work put back at the head
-- waits behind all that was there. A lease that has expired is left as it is.

local why = changed() or held()
local state, id, score = ARGV[4], ARGV[1], ARGV[5]
if state == "active" then
	why = why or running()
else
	why = why or leased()
end
if why then
	return why
end

if state == "pending" then
	redis.call("LPUSH", KEYS[PENDING], id)
elseif state == "active" then
	if not lease() then
		redis.call("ZADD", KEYS[LEASE], score, id)
	end
	redis.call("LPUSH", KEYS[ACTIVE], id)
elseif state == "aggregating" then
	local group = owngroup()
	if not group then
		return {"the task names no group"}
	end
	redis.call("SISMEMBER", KEYS[GROUPS], group)
	redis.call("ZADD", ARGV[2] .. group, score, id)
	redis.call("SADD", KEYS[GROUPS], group)
else
	redis.call("ZADD", KEYS[PLACE[state]], score, id)
end
return {}
