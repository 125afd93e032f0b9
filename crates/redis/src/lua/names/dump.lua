-- Gives all that is stored of a name, read in one step: the fields of its hash with their values, and the
-- members of its order. Of a name with more than a thousand records it gives nothing, because that would
-- take long.
--
-- KEYS   the hash and the order

if redis.call('hlen', KEYS[1]) > 1000 then return {} end
return { redis.call('hgetall', KEYS[1]), redis.call('zrange', KEYS[2], '0', '-1') }
