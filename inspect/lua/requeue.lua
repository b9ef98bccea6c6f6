-- Has an archived task run again. ARGV[5]: its score. ARGV[6]: the message that
-- it is to have, "" for the one it has. ARGV[7]: the seconds that its lock is to
-- live, 0 where it takes none. KEYS[11] and on: the locks that no other task may
-- hold; the first is its own, where it is to take that.
--
-- It is in the pending list before it is out of the archive: a user who may do
-- one and not the other makes no ghost of it.

local why = changed() or unarchived(ARGV[5])
if why then
	return why
end
local id, message, ttl = ARGV[1], ARGV[6], tonumber(ARGV[7])
for i = 11, #KEYS do
	local owner = redis.call("GET", KEYS[i])
	if owner and owner ~= id then
		return {"the lock of its work belongs to %.100q", owner}
	end
end
local left = 0
if ttl > 0 then
	if not string.find(redis.call("HGET", KEYS[HASH], "msg") or "", KEYS[11], 1, true) then
		return {"its message does not name the lock, so that success would not release it"}
	end
	left = redis.call("PTTL", KEYS[11])
end
redis.call("LLEN", KEYS[PENDING])

if ttl > 0 and left ~= -1 and left < ttl * 1000 then
	redis.call("SET", KEYS[11], id, "EX", ttl)
end
redis.call("LPUSH", KEYS[PENDING], id)
if message ~= "" then
	redis.call("HSET", KEYS[HASH], "msg", message, "state", "pending")
else
	redis.call("HSET", KEYS[HASH], "state", "pending")
end
redis.call("ZREM", KEYS[PLACE.archived], id)
return {}
