-- Puts a ghost into the archive. ARGV[5]: the score, in seconds. Nothing is
-- trimmed; asynq does so when it next archives a task.

local why = changed() or held()
if ARGV[4] == "active" then
	why = why or running()
else
	why = why or leased()
end
if why then
	return why
end

redis.call("ZADD", KEYS[PLACE.archived], ARGV[5], ARGV[1])
redis.call("HSET", KEYS[HASH], "state", "archived")
redis.call("ZREM", KEYS[LEASE], ARGV[1])
return {}
