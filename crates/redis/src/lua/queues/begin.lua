-- Begins a call: reads the clock, the start of the requests and the header, and lets time pass.
--
-- KEYS   the queue's hash and its order
-- ARGV   the requests; then the payload of each push
--
-- The header's fields are locals of the script, and the functions of the other files use them. Making functions is dear,
-- and the more so the more locals they use. So they are made in parts, each only where a call needs it. A part is a
-- function itself, because those within it find at once what it has found.

local call, pack, read, sub, byte = redis.call, struct.pack, struct.unpack, string.sub, string.byte
local min, max, format = math.min, math.max, string.format

local key, order, argument = KEYS[1], KEYS[2], ARGV[1] or ''
if #argument < 41 then return redis.error_reply('SEINPAALARGUMENT the start of the requests') end
local options, number, not_after, seen, asker, first_request = read('<Bdddc16', argument)
local now
if options % 32 < 16 then
  local time = call('time')
  now = time[1] * 1000000 + time[2]
else
  now, argument = read('<d', argument, #argument - 7), sub(argument, 1, -9)
end
local is_sharded = options % 4 >= 2
if options < 64 or not (number >= 0 and number <= 2 ^ 53 and not_after >= 0 and not_after <= 2 ^ 53 and seen >= 0) then
  return redis.error_reply('SEINPAALARGUMENT the start of the requests')
end

-- Changes wait here until they are written. What is only written: lists, as arguments of HSET, ZADD, ZREM and HDEL. What
-- may also be read: fields, false for those that go; and in a call that makes functions, members, whether they are there,
-- and the letters of those that were changed.
local set, add, remove, fields = { nil, nil, nil, nil, nil, nil, nil, nil }, { nil, nil, nil, nil }, {}, {}
local gone, members, changed

local own = 's' .. asker
local found = redis.pcall('hmget', key, 'h', own)
if found.err then return redis.error_reply('SEINPAALCORRUPT the key has another type') end
local header, session = found[1], found[2]
local is_new, version = not header, header and byte(header) or 0
if is_new then
  -- Members that a lost hash has left behind would be taken for jobs of this queue.
  if call('exists', key, order) > 0 then
    if call('exists', key) == 1 or redis.pcall('zrangebylex', order, '[z', '[z')[1] ~= 'z' then
      return redis.error_reply('SEINPAALCORRUPT the key is somebody else\'s')
    end
    call('unlink', order)
  end
  -- This member is always there. It keeps the key, and with it the time when it expires.
  add[1], add[2] = '0', 'z'
  header = pack(HEAD, VERSION, 0, NONE, 0, 0, 0, 0, 0, 0, 0, 0, 2 ^ 53, 0, 2 ^ 53, 2 ^ 53, 0, 0)
elseif version ~= VERSION and version > 0 and version < 64 then
  return redis.error_reply('SEINPAALFORMAT the queue is kept in another format')
elseif version ~= VERSION or #header < HEAD_SIZE or session and #session < SESSION_SIZE then
  return redis.error_reply('SEINPAALCORRUPT the header cannot be read')
end
local _, flags, limit, ready, open, delayed, active, dead, sessions, clock, wall, bound, last, due, forget_at, memory,
  deadline, rare_at = read(HEAD, header)
local group_limit, groups, idle, called, wanted, keys, shift, watch_at, watch, is_paused, reopen = NONE, 0, 0, 0, 0, 0, 0, 0,
  NOBODY, flags % 2 == 1, false
if flags > 1 then
  group_limit, groups, idle, called, wanted, keys, shift, watch_at, watch, reopen = read(RARE, header, rare_at)
  reopen = flags % 4 >= 2 and sub(header, reopen)
end

-- A step back of the server's clock leaves the ledger's clock where it is.
local passed = now - wall
if passed < 0 then shift, passed = shift - passed, 0 end
clock = clock + (passed < bound and passed or bound)
local steady = now + shift
if seen > last then last = max(last, min(seen, 2 ^ 52)) end

-- What is known of the sender's last call.
local last_call, listed, kept_at = 0, 0, nil
if session then last_call, _, listed, kept_at = read(SESSION, session) end

-- Whether the call needs functions, and those for operators; whether its requests only let the queue grow; how many they are.
local is_repeated = number > 0 and session and number == last_call
local is_general = due <= steady or forget_at <= now or groups + idle + called > 0 or reopen or is_repeated
local has_operators, requests, pushes, pops, grows, next_at = reopen, 0, 0, 0, first_request <= #argument, first_request
while next_at <= #argument do
  local code, low, high = byte(argument, next_at, next_at + 2)
  local size, body = low + 256 * (high or 2 ^ 53), next_at + 3
  requests, next_at = requests + 1, body + size
  if code == 1 then
    pushes = pushes + 1
    if size > 5 and byte(argument, body + 5) > 3 then is_general = true end
  else
    grows = grows and code == 12
    if code == 2 and size > 17 then
      pops = pops + 1
      -- A pop that may wait needs the functions, unless it asks for one job and there is one for it.
      local waits = byte(argument, body + 17) % 2 == 1
      if waits and (byte(argument, body) > 1 or open == 0 or active >= limit or is_paused) then is_general = true end
    end
    if code > 3 or pops > 1 then is_general = true end
    if code > 7 then has_operators = true end
  end
end
if pushes > 0 and pushes < requests then is_general = true end
if next_at > #argument + 1 or requests > 64 then return redis.error_reply('SEINPAALARGUMENT the requests') end

-- How many ends, due jobs, calls and removals the call may handle; bytes of payload that it may answer with.
local work, room = 128, 1048576
-- The functions of the parts; payloads and notifications to send; whether work is left over; whether the call has written;
-- why it is refused.
local L, payloads, notifications, has_backlog, has_written, refusal = nil, nil, nil, false, false, nil
if is_general then
  L = { key = key, now = now, asker = asker, is_sharded = is_sharded, is_moving = options % 8 >= 4 }
end

-- Writes all changes, or gives the error of a command that was refused. A server without free memory refuses a write, unless
-- the script has removed something before. Only a call that does nothing but grow the queue may be refused.
local function write(grows, set, add, remove, gone, fields, members)
  if next(fields) then
    gone = gone or {}
    for field, text in pairs(fields) do
      if text then set[#set + 1], set[#set + 2] = field, text else gone[#gone + 1] = field end
    end
  end
  if members then
    for member, is_there in pairs(members) do
      if is_there then add[#add + 1], add[#add + 2] = '0', member else remove[#remove + 1] = member end
    end
  end
  -- What is removed was added before.
  for step = 1, 4 do
    local list = step == 1 and add or step == 2 and remove or step == 3 and gone or step == 4 and set or ''
    local command = step == 1 and 'zadd' or step == 2 and 'zrem' or step == 3 and 'hdel' or 'hset'
    for from = 1, #list, 1000 do
      local to, where = math.min(from + 999, #list), KEYS[step < 3 and 2 or 1]
      local reply = redis.pcall(command, where, (unpack or table.unpack)(list, from, to))
      if type(reply) == 'table' and reply.err and not grows and not has_written then
        redis.call('hdel', KEYS[1], '-')
        reply = redis.pcall(command, where, (unpack or table.unpack)(list, from, to))
      end
      if type(reply) == 'table' and reply.err then return reply end
      has_written = true
    end
  end
end
