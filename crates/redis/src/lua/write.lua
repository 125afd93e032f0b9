-- write: applies a group of commands in one step while tickets hold, and once only for the group's
--   id.
-- keys   records order id key...
-- args   now inbox held not_after command...
-- reply  done partial refused lost late
-- error  SEINPAALCORRUPT SEINPAALARGUMENT, and what the server says to the first write
-- cost   one HMGET for each ticket, one HGET for the head and for a lease elsewhere; one TYPE for
--        each key; two SET for the id; the commands
--
-- held: pairs of ticket and fence. A command has one key; its arguments here are its name, its
-- shape, how many arguments follow, and these.
--
-- A shape is four letters: the type that the key must have and the type that it has afterwards (s h
-- l e z: string, hash, list, set, sorted set; - any or the same; n none); whether the command
-- counts (i and f: the value; j and g: a field of a hash); and w if it writes.
--
-- Nothing is written before the id, and no command of the group is executed until all of them have
-- been checked.

local TYPES = { s = 'string', h = 'hash', l = 'list', e = 'set', z = 'zset', n = 'none' }
local id, not_after = KEYS[3], tonumber(ARGV[4] or '?')
if not now or not not_after then
  return redis.error_reply('SEINPAALARGUMENT the clock or the deadline')
end

local function plain_error(reply)
  return (string.gsub(string.gsub(reply.err, '^%-', ''), '[\r\n]', ' '))
end

-- Decides as the ledger would, rule by rule: a lease that another client renews also has to hold by
-- the wall clock.
local function is_held(head, ticket, fence)
  local id = sub(ticket, 1, 24) .. '00000000'
  local found = call('hmget', records, 'r' .. id, 't' .. ticket)
  found[1] = head.fields['r' .. id] or found[1]
  local record = found[1] and parse_record(id, found[1])
  local entry = record and record.tickets[ticket] or found[2] and parse_entry(ticket, found[2])
  if not entry or entry.fence ~= fence then return false end
  if entry.lease ~= id then
    local text = call('hget', records, 'r' .. entry.lease)
    record = text and parse_record(entry.lease, text)
  end
  local lease = record and record.lease
  if not lease or lease.ends <= head.clock then return false end
  return lease.ends_wall > now or lease.inbox == asker
end

local function are_all_held()
  local text = call('hget', records, 'h')
  local lone_head, field, record = unfold(text)
  local fields, _ = field and { [field] = record } or {}
  if text and string.byte(text) == LINE_VERSION then
    _, lone_head, fields = pcall(unfold_line, text)
    if not fields then return false end
  end
  local head = text and parse_head(lone_head or text)
  if not head then return false end
  head.fields = fields
  advance_clock(head)
  for ticket, fence in string.gmatch(ARGV[3], '(%x+) (%d+)') do
    if not is_held(head, ticket, tonumber(fence)) then return false end
  end
  return true
end

local function commands()
  local list, at = {}, 5
  for i = 4, #KEYS do
    local count = tonumber(ARGV[at + 2])
    local command = { ARGV[at], KEYS[i] }
    for j = 1, count do command[j + 2] = ARGV[at + 2 + j] end
    list[#list + 1] = { key = KEYS[i], shape = ARGV[at + 1], words = command }
    at = at + 3 + count
  end
  return list
end

local function is_integer(text)
  return text == '0' or (#text <= 20 and match(text, '^%-?[1-9]%d*$'))
end

-- Gives the reason why a command that counts cannot work, or nothing.
local function not_a_number(command, letter, value)
  if value then
    -- The group itself has put this value there.
  elseif letter == 'i' or letter == 'f' then
    if call('strlen', command.key) > 400 then return 'the value is not a number' end
    value = call('get', command.key)
  else
    value = call('hget', command.key, command.words[3] or '')
  end
  local is_number = not value or is_integer(value)
    or ((letter == 'f' or letter == 'g') and tonumber(value))
  return not is_number and 'the value is not a number'
end

-- Gives the first command that cannot work, and the reason.
local function misfit(list)
  local types, is_changed, values = {}, {}, {}
  for i, command in ipairs(list) do
    local key, wants, leaves, letter = command.key, match(command.shape, '^(.)(.)(.)')
    local has = types[key] or call('type', key).ok
    if TYPES[wants] and has ~= 'none' and has ~= TYPES[wants] then
      return i, 'WRONGTYPE the key holds a ' .. has .. ', not a ' .. TYPES[wants]
    end
    if letter ~= '-' and has ~= 'none' and (values[key] or not is_changed[key]) then
      local why = not_a_number(command, letter, values[key])
      if why then return i, why end
    end
    types[key] = TYPES[leaves] or has
    if sub(command.shape, 4) == 'w' then
      is_changed[key], values[key] = true, command.words[1] == 'SET' and command.words[3] or nil
    end
  end
end

local function apply(list)
  local replies, has_written = {}, false
  for i, command in ipairs(list) do
    local reply = try(unpack(command.words))
    if type(reply) == 'table' and reply.err then
      return { has_written and 'partial' or 'refused', i, plain_error(reply), replies }
    end
    replies[i], has_written = reply, has_written or sub(command.shape, 4) == 'w'
  end
  return { 'done', 0, '', replies }
end

local function write()
  if now > not_after then return { 'late', 0, '', {} } end
  local lifetime = format('%d', floor((not_after - now) / 1000) + 1000)
  local before = call('get', id)
  if before then
    -- This is a write, so that waiting for replicas also covers a repeated request.
    call('pexpire', id, lifetime)
    return cmsgpack.unpack(before)
  end
  if not are_all_held() then return { 'lost', 0, '', {} } end
  local list = commands()
  local wrong, why = misfit(list)
  if wrong then return { 'refused', wrong, why, {} } end
  local begun = try('set', id, cmsgpack.pack({ 'partial', 0, 'the script ended early', {} }),
    'px', lifetime)
  if begun.err then return redis.error_reply(plain_error(begun)) end
  local answer = apply(list)
  if answer[1] == 'refused' then
    try('unlink', id)
  else
    try('set', id, cmsgpack.pack(answer), 'px', lifetime)
  end
  return answer
end

return write()
