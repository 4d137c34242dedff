-- instances: every client of the hash that beat.lua writes.
--
-- KEYS[1]  the clients
--
-- Reply: {now, then id and value of each}
-- O(clients)

local reply = redis.call('HGETALL', KEYS[1])
table.insert(reply, 1, redis_now())
return reply
