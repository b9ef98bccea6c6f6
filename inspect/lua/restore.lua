-- Puts a deleted task back into the archive. ARGV[5]: its score. ARGV[6]: when
-- its lock runs out, in milliseconds since 1970; 0 for never. ARGV[7] and on:
-- the fields of its hash, each name with its value. KEYS[11], where given: the
-- lock.

if redis.call("EXISTS", KEYS[HASH]) == 1 then
	return {"a task has the ID, in state %.100q", redis.call("HGET", KEYS[HASH], "state") or ""}
end
local why = leased() or inset()
if why then
	return why
end

local id, ends = ARGV[1], tonumber(ARGV[6])
local take, note = false, {}
if KEYS[11] then
	local owner = redis.call("GET", KEYS[11])
	local left = redis.call("PTTL", KEYS[11])
	local now = redis.call("TIME")
	now = now[1] * 1000 + math.floor(now[2] / 1000)
	if owner and owner ~= id then
		note = {"", "its lock was not taken: it belongs to %.100q now", owner}
	elseif ends ~= 0 and ends <= now then
		note = {"", "its lock was not taken: it has run out"}
	else
		-- -1 is for a lock of its own that never runs out, -2 for none.
		take = left ~= -1 and (ends == 0 or now + left < ends)
	end
end

if take and ends == 0 then
	redis.call("SET", KEYS[11], id)
elseif take then
	redis.call("SET", KEYS[11], id, "PXAT", ARGV[6])
end
for i = 7, #ARGV, 2 do
	redis.call("HSET", KEYS[HASH], ARGV[i], ARGV[i + 1])
end
redis.call("ZADD", KEYS[PLACE.archived], ARGV[5], id)
return note
