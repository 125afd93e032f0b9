-- rights: finds the commands that this user may not run, without running them.
-- keys   none, so that any node of a cluster can be asked
-- args   key channel publish listeners word...
-- reply  a list of words
-- cost   nothing: a server of 7.0 or newer is asked, and an older one is told to do what cannot
--        succeed
--
-- No client writes the key. To an old server each command goes with the right number of arguments,
-- one of which is nonsense: the server checks the permission, and nothing happens. A command that
-- only reads finds nothing there.
local key, channel, publish, listeners = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local tries = {
  { 'time' }, { 'exists', key }, { 'type', key },
  { 'hget', key, 'f' }, { 'hmget', key, 'f' }, { 'hgetall', key }, { 'hlen', key }, { 'hscan', key, '0' },
  { 'hset', key, 'f', 'v', 'odd' }, { 'hdel', key, 'f' },
  { 'zadd', key, 'nonsense', 'm' }, { 'zrem', key, 'm' }, { 'zrange', key, '0', '0' },
  { 'zlexcount', key, '-', '+' },
  { 'zrangebylex', key, '-', '+' }, { 'zremrangebylex', key, '-', '+' },
  { 'unlink', key }, { 'pexpire', key, 'nonsense' }, { 'persist', key },
  { publish, channel, '' }, { 'pubsub', listeners, channel },
}
local more = {
  scan = { 'scan', '0' },
  ping = { 'ping' }, info = { 'info', 'server' }, eval = { 'eval', 'return 1', '0' },
  wait = { 'wait', '0', '0' }, sunsubscribe = { 'sunsubscribe', channel }, asking = { 'asking' },
  myid = { 'cluster', 'myid' },
}
for i = 5, #ARGV do tries[#tries + 1] = more[ARGV[i]] end

local function may(words)
  if redis.acl_check_cmd then return redis.acl_check_cmd(unpack(words)) end
  local reply = redis.pcall(unpack(words))
  return type(reply) ~= 'table' or not reply.err
    or not string.find(reply.err, 'The user executing the script', 1, true)
end

local denied = {}
for _, words in ipairs(tries) do
  if not may(words) then denied[#denied + 1] = words[1] end
end
return denied
