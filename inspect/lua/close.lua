-- Removes a ghost, or an active task without a lease, with its own lock.
-- KEYS[11], where given: the lock.

local except = ARGV[4] == "active" and ACTIVE or nil
local why = changed() or leased() or held(except)
if why then
	return why
end
local own = KEYS[11] and redis.call("GET", KEYS[11]) == ARGV[1]

if except then
	redis.call("LREM", KEYS[ACTIVE], 0, ARGV[1])
end
redis.call("DEL", KEYS[HASH])
if own then
	redis.call("DEL", KEYS[11])
end
return {}
