-- A guarded write: applies a group of commands in one step while tickets hold, and once only for the group's
-- id.
--
-- KEYS   the hash and the order of the name, the key that remembers the group's id, and the key of each command
-- ARGV   the time or '', the sender's inbox, the tickets (each the ID of its series, its number I4 and its fence
--        d), the deadline; and for each command its name, its shape, how many arguments follow, and these
-- The answer is a word (done partial refused lost late), the number of a command, why, and the commands'
-- answers.
--
-- A shape is four letters: the type that the key must have and the type that it has afterwards (s h
-- l e z: string, hash, list, set, sorted set; - any or the same; n none); whether the command
-- counts (i and f: the value; j and g: a field of a hash); and w if it writes.
--
-- Nothing is written before the id, and no command of the group is executed until all of them have
-- been checked.

local call, try, sub, match = redis.call, redis.pcall, string.sub, string.match
local records, asker, now = KEYS[1], ARGV[2], tonumber(ARGV[1])
local TYPES = { s = 'string', h = 'hash', l = 'list', e = 'set', z = 'zset', n = 'none' }
local id, not_after = KEYS[3], tonumber(ARGV[4] or '?')
if not not_after or #asker ~= 16 or ARGV[1] ~= '' and not now then
  return redis.error_reply('SEINPAALARGUMENT the clock, the inbox or the deadline')
end
if not now then
  local time = call('time')
  now = time[1] * 1000000 + time[2]
end

local function plain_error(reply)
  return (string.gsub(string.gsub(reply.err, '^%-', ''), '[\r\n]', ' '))
end

-- Gives the inbox and both ends of the lease under which a ticket holds, and its fence; nothing if it does
-- not hold. First the record of its series is asked.
local function lease_of(id, series, number)
  local record = call('hget', records, id)
  if not record then return nil end
  local inbox, ends, ends_wall, _, _, _, _, _, _, flags, about, at = struct.unpack(RECORD, record)
  at = at + about
  if flags >= 2 then at = at + 2 + struct.unpack('<I2', record, at) end
  at = at + (flags % 2 == 1 and 26 or 0)
  while at <= #record do
    local its_number, row_flags, more, _, fence, _, after = struct.unpack(ROW, record, at)
    -- A ticket of another series than the record's has its series in its row.
    local its_series = sub(row_flags % 16 < 8 and id or sub(record, after), 1, 12)
    if its_number == number and its_series == series and row_flags % 2 == 0 then
      if row_flags % 8 < 4 then return inbox, ends, ends_wall, fence end
      return lease_of(sub(record, after, after + 15), series, number) -- it stands under another lease
    end
    at = after + more
  end
end

-- Decides as the ledger would, rule by rule: a lease that another client renews also has to hold by the
-- server's clock.
local function are_all_held()
  local head = call('hget', records, 'h')
  if not head or #head < HEAD_SIZE or string.byte(head) ~= VERSION then return false end
  local _, _, _, _, _, _, _, _, _, clock, wall, _, bound = struct.unpack(HEAD, head)
  clock = clock + math.min(math.max(now - wall, 0), bound)
  for at = 1, #ARGV[3], 28 do
    local id, number, fence = struct.unpack('<c16I4d', ARGV[3], at)
    local inbox, ends, ends_wall, its_fence = lease_of(id, sub(id, 1, 12), number)
    if not inbox or its_fence ~= fence or ends <= clock then return false end
    if ends_wall <= now and inbox ~= asker then return false end
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
  local lifetime = string.format('%d', math.floor((not_after - now) / 1000) + 1000)
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
