-- Begins a call: reads the clock, the start of the requests and the header, and lets time pass.
--
-- KEYS   the queue's hash and its order
-- ARGV   the requests; then the payload of each push
--
-- The header's fields are locals of the script, and the functions of the other files use them. Making functions is dear,
-- and the more so the more locals they use. So they are made in parts, each only where a call needs it. A part is a
-- function itself, because those within it find at once what it has found.

local call, pack, read, sub, byte = redis.call, struct.pack, struct.unpack, string.sub, string.byte
local min, max, format, concat, unpack = math.min, math.max, string.format, table.concat, unpack or table.unpack

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
local is_sharded, is_moving = options % 4 >= 2, options % 8 >= 4
if options < 64 or not (number >= 0 and number <= 2 ^ 53 and not_after >= 0 and not_after <= 2 ^ 53 and seen >= 0) then
  return redis.error_reply('SEINPAALARGUMENT the start of the requests')
end

-- Changes wait here until they are written. What is only written: lists, as arguments of HSET, HDEL, ZADD and ZREM. What
-- may also be read: fields, false for those that go; and in a call that makes functions, members, whether they are there,
-- and pages of members that were read, by their letters, false if something was added there.
local set, gone, add, remove, fields = { nil, nil, nil, nil, nil, nil, nil, nil }, {}, { nil, nil, nil, nil }, {}, {}
local members, pages

local found = redis.pcall('hmget', key, 'h', 's' .. asker)
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
if session then last_call, _, listed, _, kept_at = read(SESSION, session) end

-- Which functions the call needs; whether its requests only let the queue grow; how many they are.
local has_time, has_workers, has_operators, has_lists = due <= steady or forget_at <= now, idle + called > 0, reopen, false
local is_repeated = number > 0 and session and number == last_call
local is_general = has_time or has_workers or reopen or is_repeated or groups > 0
local requests, pushes, pops, grows, next_at = 0, 0, 0, first_request <= #argument, first_request
while next_at <= #argument do
  local code, size, body = read('<BI2', argument, next_at)
  requests, next_at = requests + 1, body + size
  if code == 1 then
    pushes = pushes + 1
    if size > 5 and byte(argument, body + 5) > 3 then is_general = true end
  else
    grows = grows and code == 12
    if code == 2 then
      pops = pops + 1
      if size > 17 and byte(argument, body + 17) % 2 == 1 then has_workers, is_general = true, true end
    end
    if code > 3 or pops > 1 then is_general = true end
    if code > 12 then has_lists = true elseif code > 7 then has_operators = true end
  end
end
if pushes > 0 and pushes < requests then is_general = true end
if next_at > #argument + 1 or requests > 64 then return redis.error_reply('SEINPAALARGUMENT the requests') end

-- How many ends, due jobs, calls and removals the call may handle; bytes of payload and rows that it may answer with;
-- attempts that it may renew.
local work, room, rows_left, renewals = 128, 1048576, 500, 1000
-- The functions of the parts, and whether the call has written; payloads and notifications to send; whether work is left over;
-- why the call is refused.
local L, payloads, notifications, has_backlog, refusal = {}, nil, nil, false, nil

-- Turns an error that a script or Redis raised into an answer. A script that was ended by an error cannot take back its
-- writes, and then the state may be torn.
local function refusal_of(raised, has_written)
  local text = string.gsub(type(raised) == 'table' and raised.err or tostring(raised), '[\r\n]', ' ')
  if string.find(text, 'OOM', 1, true) then text = 'SEINPAALOOM the server has no memory left' end
  if string.find(text, 'WRONGTYPE', 1, true) then text = 'SEINPAALCORRUPT the key has another type' end
  if string.find(text, 'data string too short', 1, true) then text = 'SEINPAALCORRUPT a value ends too early' end
  if has_written then
    text = string.gsub(text, '^SEINPAAL%u+', 'SEINPAALTORN')
    if string.sub(text, 1, 8) ~= 'SEINPAAL' then text = 'SEINPAALTORN ' .. text end
  elseif string.sub(text, 1, 8) ~= 'SEINPAAL' then
    text = string.match(text, '^%-?(%u%u+ .*)$') or string.match(text, '%-(%u%u+ .*)$') or 'SEINPAALFAILED ' .. text
  end
  return text
end

-- A server without free memory refuses a write, unless the script has removed something before. Only a call that does
-- nothing but grow the queue may be refused.
local function send(L, grows, command, where, list)
  for from = 1, #list, 1000 do
    local to = math.min(from + 999, #list)
    local reply = redis.pcall(command, where, (unpack or table.unpack)(list, from, to))
    if type(reply) == 'table' and reply.err then
      if grows or L.has_written then error(reply, 0) end
      redis.call('hdel', KEYS[1], '-')
      redis.call(command, where, (unpack or table.unpack)(list, from, to))
    end
    L.has_written = true
  end
end

-- Writes all changes.
local function write(L, grows, set, gone, add, remove, fields, members)
  for field, text in pairs(fields) do
    if text then set[#set + 1], set[#set + 2] = field, text else gone[#gone + 1] = field end
  end
  for member, is_there in pairs(members or {}) do
    if is_there then add[#add + 1], add[#add + 2] = '0', member else remove[#remove + 1] = member end
  end
  if grows then send(L, grows, 'hset', KEYS[1], set) end
  -- A list that removes a member was written after the map that added it.
  if add[1] then send(L, grows, 'zadd', KEYS[2], add) end
  if remove[1] then send(L, grows, 'zrem', KEYS[2], remove) end
  if gone[1] then send(L, grows, 'hdel', KEYS[1], gone) end
  if not grows then send(L, grows, 'hset', KEYS[1], set) end
end
