-- What the scripts that change a task have in common. asynq's structures, in
-- the order in which they are handed over:
--
--   KEYS[1]  the task's hash     KEYS[6]  retry
--   KEYS[2]  pending             KEYS[7]  archived
--   KEYS[3]  active              KEYS[8]  completed
--   KEYS[4]  lease               KEYS[9]  groups
--   KEYS[5]  scheduled           KEYS[10] aggregation_sets
--
--   ARGV[1]  the task's ID       ARGV[3]  the fingerprint it is to have
--   ARGV[2]  prefix of groups    ARGV[4]  the state it is to be in
--
-- A script answers {} when it has done its work, or else a format and its
-- argument, which say why not. With "" in front of them they say what is not as
-- it was asked for, although the work is done. Everything is read before anything is written, so
-- that a key of the wrong type stops a script before it has begun.

local HASH, PENDING, ACTIVE, LEASE, GROUPS, SETS = 1, 2, 3, 4, 9, 10
local PLACE = {scheduled = 5, retry = 6, archived = 7, completed = 8}
local NAME = {"task", "pending", "active", "lease", "scheduled", "retry", "archived", "completed"}

-- asynq's recoverer leaves a lease alone until it has expired for this long.
local GRACE = 30

local function fingerprint(hash)
	local values = redis.call("HMGET", hash, "msg", "state", "unique_key", "group", "pending_since", "result")
	for i = 1, 6 do
		local v = values[i]
		values[i] = v and (#v .. ":" .. v) or "-"
	end
	return redis.sha1hex(table.concat(values))
end

-- changed says why the task is not the one that was read; nil when it is.
local function changed()
	if redis.call("EXISTS", KEYS[HASH]) == 0 then
		return {"the task is gone"}
	end
	local state = redis.call("HGET", KEYS[HASH], "state") or ""
	if state ~= ARGV[4] then
		return {"the task is in state %.100q now", state}
	end
	if fingerprint(KEYS[HASH]) ~= ARGV[3] then
		return {"the task's stored fields have changed since they were read"}
	end
end

local function owngroup()
	local group = redis.call("HGET", KEYS[HASH], "group")
	return group and group ~= "" and group
end

local function lease()
	return redis.call("ZSCORE", KEYS[LEASE], ARGV[1])
end

local function leased()
	local ends = lease()
	if ends then
		return {"the task has a lease that ends at %s", ends}
	end
end

-- running says so while a worker may be at the task: its lease has not expired,
-- or not for long.
local function running()
	local ends = lease()
	if ends and tonumber(ends) > tonumber(redis.call("TIME")[1]) - GRACE then
		return {"a worker may be running the task: its lease ends at %s", ends}
	end
end

local function listed(place)
	return redis.call("LPOS", KEYS[place], ARGV[1])
end

-- inset says which sorted set holds the task's ID, other than the one excepted;
-- nil for none. A lease is none.
local function inset(except)
	for place = 5, 8 do
		if redis.call("ZSCORE", KEYS[place], ARGV[1]) and place ~= except then
			return {"the %s set holds the task", NAME[place]}
		end
	end
	local group = owngroup()
	if group and redis.call("ZSCORE", ARGV[2] .. group, ARGV[1]) then
		return {"its group %.100q holds the task", group}
	end
	for _, set in ipairs(redis.call("ZRANGE", KEYS[SETS], 0, -1)) do
		if string.sub(set, 1, #ARGV[2]) == ARGV[2] and redis.call("ZSCORE", set, ARGV[1]) then
			return {"the set %.100q, which is being aggregated, holds the task", set}
		end
	end
end

-- held is inset for the lists as well, through which Redis has to look.
local function held(except)
	local why = inset(except)
	if why then
		return why
	end
	for place = PENDING, ACTIVE do
		if listed(place) and place ~= except then
			return {"the %s list holds the task", NAME[place]}
		end
	end
end

-- unarchived says why a task whose hash says that it is archived may be
-- elsewhere, or there since another time than the score; nil where it is in the
-- archive alone. A score of 0 is any. The lists are not looked through: see
-- move.go.
local function unarchived(score)
	local has = redis.call("ZSCORE", KEYS[PLACE.archived], ARGV[1])
	if not has then
		return {"the archived set does not hold the task"}
	end
	if tonumber(score) ~= 0 and tonumber(score) ~= tonumber(has) then
		return {"the task was archived again since it was read"}
	end
	return leased() or inset(PLACE.archived)
end
