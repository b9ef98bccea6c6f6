-- Deletes an archived task, with its own lock. ARGV[5]: its score. KEYS[11],
-- where given: the lock.

local why = changed() or unarchived(ARGV[5])
if why then
	return why
end
local own = KEYS[11] and redis.call("GET", KEYS[11]) == ARGV[1]

redis.call("ZREM", KEYS[PLACE.archived], ARGV[1])
redis.call("DEL", KEYS[HASH])
if own then
	redis.call("DEL", KEYS[11])
end
return {}
