-- One call about one name with any requests: evict, attach, detach, configure and inspect, and those of
-- hot.lua, in any mixture. Nobody counts its instructions, so it uses the functions throughout.

local function step(index, argument, progress, guard, VERSION, HEAD, HEAD_SIZE, RECORD, RECORD_SIZE, ROW,
    ROW_SIZE, add_ledger, add_rare, add_rows, add_named)
  local call, pack, read, sub = redis.call, struct.pack, struct.unpack, string.sub
  local max, min = math.max, math.min
  local EVICTED, ATTACHED = 3, 5
  local NOBODY, UNBOUNDED = '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0', 9007199254740992
  local options, seen, asker, first = read('<Bdc16', argument)
  if options < 64 or options > 127 or seen > 4503599627370496 or seen < 0 then
    error({ refusal = 'SEINPAALARGUMENT the start of the requests' }, 0)
  end
  local now
  if options % 32 < 16 then
    local time = call('time')
    now = time[1] * 1000000 + time[2]
  else
    now, argument = read('<d', argument, #argument - 7), sub(argument, 1, -9)
  end
  local L = {
    key = KEYS[2 * index - 1], order = KEYS[2 * index], now = now, asker = asker, guard = guard,
    is_sharded = options % 4 >= 2, is_moving = options % 8 >= 4, version = VERSION,
    progress = progress, add_rare = add_rare, records = {}, texts = {}, known = {}, settings = {},
    grows = false,
  }
  add_ledger(L, RECORD, RECORD_SIZE, ROW, ROW_SIZE)
  for _, part in ipairs({ 'expire', 'acquire', 'general' }) do add_rare(L, part) end
  add_named(L)
  add_rows(L)

  local function read_header()
    local head = call('hget', L.key, 'h')
    local flags, wall = 0, nil
    L.is_new, L.is_order_new, L.shift, L.arrival = not head, not head, 0, 0
    if head then
      local its_version = string.byte(head)
      if its_version ~= VERSION and its_version and its_version > 11 and its_version < 64 then
        L.refuse('SEINPAALFORMAT', 'written in format ' .. its_version .. ', and this program reads format ' .. VERSION)
      end
      if its_version ~= VERSION or #head < HEAD_SIZE then L.damaged('the header cannot be read') end
      local _
      _, L.kind, flags, L.uses, L.limit, L.held, L.holders, L.waiting, L.top, L.clock, wall, L.fence,
        L.bound, L.due, L.deadline, L.remembered, L.noted = read(HEAD, head)
      if #head ~= HEAD_SIZE or L.waiting > 0 then
        L.shift, L.arrival = read('<dd', head, HEAD_SIZE + 1)
        local front = sub(head, HEAD_SIZE + 17)
        if L.waiting == 0 and front ~= '' or L.waiting > 0 and front ~= '-' and #front ~= 25 then
          L.damaged('the header cannot be read')
        end
      end
    else
      if call('exists', L.key) == 1 then L.damaged('the hash has no header') end
      -- Members that a lost hash has left behind would be taken for slots and waiters of this name.
      local left = call('zrange', L.order, '0', '0', 'withscores')
      if left[1] and left[2] ~= '0' then L.damaged('the order is somebody else\'s') end
      if left[1] then call('unlink', L.order) end
      L.kind, L.uses, L.limit, L.held, L.holders, L.waiting, L.top, L.clock, wall, L.fence, L.bound,
        L.due, L.deadline, L.remembered, L.noted = 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, UNBOUNDED, UNBOUNDED, 0, 0, 0
    end
    L.is_paused, L.is_pinned, L.is_stated, L.is_named = flags % 2 == 1, flags % 4 >= 2, flags % 8 >= 4, flags >= 8
    local passed = now - wall
    if passed < 0 then L.shift, passed = L.shift - passed, 0 end
    L.clock, L.wall, L.steady = L.clock + min(passed, L.bound), wall, now + L.shift
    L.fence = max(L.fence, seen)
  end

  local function ended(reason)
    return pack('<BB', 8, reason)
  end

  local requests = {}

  -- The requests of hot.lua.

  requests[1] = function(at, to)
    if now > read('<d', argument, at + 47) then return '\7' end
    return L.look(argument, at, to)
  end
  requests[2] = function(at, to) return L.release(argument, at, to) end
  requests[4] = function(at, to) return L.renew_ticket(argument, at, to) end
  requests[5] = function(at, to) return L.cancel(argument, at, to) end
  requests[6] = function(at, to) return L.renew_tickets(argument, at, to) end

  requests[3] = function(at)
    local id, of_waiters, ttl, margin, members, digest = read('<c16BddI4d', argument, at)
    if of_waiters > 0 then return L.renew_waiters(argument, at) end
    local record = L.record_of(id)
    if not record or record.members == 0 then return '\12' end
    if record.members ~= members or record.digest ~= digest or record.inbox ~= asker then return '\11' end
    L.extend(record, ttl, margin)
    return pack('<BdI2', 10, ttl, 0)
  end

  -- Evict: ends a ticket of any client. A repetition finds it evicted already.

  requests[7] = function(at)
    local id, number = read('<c16I4', argument, at)
    local row = L.find(sub(id, 1, 12), number)
    if row then
      L.end_ticket(row, EVICTED)
      L.expire_and_grant()
      return '\16'
    end
    return L.reason_of(L.record_of(id), number) == EVICTED and '\16' or '\9'
  end

  -- Attach: the sender becomes the holder of a ticket that holds. It is a grant of its own, under a lease
  -- that is drawn for it and used once; the lease is remembered like a ticket that is over, so that a
  -- late copy cannot take the ticket back from a later attach (rule 20).

  local function spend(lease, ttl)
    local series, number = read('>c12I4', lease)
    if L.find(series, number) then return end
    local record = L.make_record(L.home_of(series))
    L.remember(record, number, ttl)
    L.note_reason(record, number, ATTACHED)
  end

  local function move_to_sender(row, lease, ttl, margin, about)
    local was_of = row.record.inbox
    if was_of ~= asker then L.notify(row, 'e' .. string.char(ATTACHED)) end
    L.part(row)
    L.take_out(row)
    spend(lease, ttl)
    local record = L.make_record(lease)
    row.ttl, row.about = ttl, about
    if #L.rows_of(record) == 0 then L.share(record, ttl, about) end
    record.inbox = asker
    L.fence = max(L.fence + 1, now)
    row.fence = L.fence
    L.put(row, record)
    L.join(row, ttl, margin)
  end

  requests[8] = function(at, to)
    local id, number, lease, ttl, margin, not_after, after = read('<c16I4c16ddd', argument, at)
    if now > not_after then return '\7' end
    if not (ttl >= 100000 and ttl <= 86400000000 and margin >= 0) or to - after > 4096 then
      L.refuse('SEINPAALARGUMENT', 'an attach')
    end
    local row = L.find(sub(id, 1, 12), number)
    if not row then return L.not_here(sub(id, 1, 12), number) end
    if row.waits then return '\9' end
    if row.record.id == lease and row.record.inbox == asker then return L.told(row) end
    local series, its_number = read('>c12I4', lease)
    local spent = L.reason_of(L.record_of(L.home_of(series)), its_number)
    if spent then return ended(spent) end
    move_to_sender(row, lease, ttl, margin, sub(argument, after, to))
    return L.told(row)
  end

  -- Detach: leaves a ticket of the sender's without a client, under a lease of its own. A late copy
  -- changes nothing once somebody has attached.

  requests[9] = function(at)
    local id, number, fence, ttl, margin = read('<c16I4ddd', argument, at)
    local series = sub(id, 1, 12)
    local row = L.find(series, number)
    if not row then return L.not_here(series, number) end
    if row.waits then return '\9' end
    local inbox = row.record.inbox
    if row.fence > fence or inbox ~= NOBODY and inbox ~= asker then return ended(ATTACHED) end
    local lease = series .. pack('>I4', number)
    L.move(row, lease, NOBODY, ttl, margin)
    L.extend(row.record, ttl, margin)
    return pack('<BdI2', 10, ttl, 0)
  end

  -- Configure: the limit, the names of the slots, a pause.

  -- Whether slots may get these names. While anybody holds or waits, names may only be added.
  local function may_be_called(names)
    if L.held + L.waiting == 0 or not L.is_named then return true end
    local present = L.settings.n or call('hget', L.key, 'n')
    return sub(names .. ',', 1, #present + 1) == present .. ',', present
  end

  local function call_slots(names)
    L.names = nil
    if names ~= '' or L.is_named then L.settings.n = names end
    L.is_named = names ~= ''
  end

  local function pin(limit, names)
    if not L.is_pinned and L.is_stated then L.settings.s = pack('<I4', L.limit) end
    L.kind, L.limit, L.is_pinned = string.byte('s'), limit, true
    call_slots(names)
  end

  local function unpin()
    if L.is_pinned then
      L.limit = L.is_stated and read('<I4', L.settings.s or call('hget', L.key, 's')) or 1
      L.settings.s, L.is_pinned = '', false
    end
    call_slots('')
  end

  requests[10] = function(at, to)
    local what, value = sub(argument, at, at), sub(argument, at + 1, to)
    L.drop_terms()
    local pins = what == 'l' or what == 's'
    if pins and L.kind > 0 and L.kind ~= string.byte('s') then return pack('<BBB', 4, L.kind, string.byte('s')) end
    if pins or what == 'u' then
      local may, present = may_be_called(what == 's' and value or '')
      if not may then return pack('<BI2', 20, #present) .. present end
    end
    if what == 'l' then
      local limit = read('<I4', value)
      if limit > 1000000000 then L.refuse('SEINPAALARGUMENT', 'a limit') end
      pin(limit, '')
    elseif what == 's' then
      local _, commas = string.gsub(value, ',', '')
      if value == '' or commas > 999 then L.refuse('SEINPAALARGUMENT', 'names of slots') end
      pin(commas + 1, value)
    elseif what == 'u' then
      unpin()
    elseif what == 'p' then
      L.is_paused, L.settings.p = true, value
    elseif what == 'r' then
      L.is_paused, L.settings.p = false, ''
    else
      L.refuse('SEINPAALARGUMENT', 'no such setting')
    end
    L.serve()
    return pack('<BI4', 17, L.limit)
  end

  -- Inspect: the totals of the name and a page of its rows. The other requests of the call are executed and
  -- written before.

  requests[11] = function(at, to)
    local waiters, holders, after = read('<I4I4', argument, at)
    return { sub(argument, after, to), waiters, holders }
  end

  -- Only a call that does nothing but grow the name may be refused for lack of memory.
  local scan = first
  L.grows = scan < #argument
  while scan < #argument do
    local op, size = read('<BI2', argument, scan)
    if op ~= 1 and op ~= 10 then L.grows = false end
    scan = scan + 3 + size
  end
  read_header()
  L.expire_and_grant()
  local replies, at = {}, first
  while at <= #argument do
    local op, size, after = read('<BI2', argument, at)
    local to = after + size - 1
    if to > #argument or not requests[op] then L.refuse('SEINPAALARGUMENT', 'no such request') end
    replies[#replies + 1] = requests[op](after, to)
    at = to + 1
  end
  local start = L.finish()
  for i, reply in ipairs(replies) do
    if type(reply) == 'table' then replies[i] = L.page(reply[1], reply[2], reply[3]) end
  end
  return start .. table.concat(replies)
end
