-- plain_end: makes the last checks, writes and wakes.
-- keys   records order
-- args   now inbox
-- reply  nothing
-- cost   one HSET; PEXPIRE if the keys would expire too early

  if i <= #ARGV then break end

  -- Without holders and waiters the ledger's clock may run freely, and no stated limit or kind
  -- stays.
  local is_idle = holders + waiting == 0
  if is_idle then
    bound, longest, stated, top, free = UNBOUNDED, 0, -1, 0, ''
    if pinned < 0 then kind = '-' end
    if is_spread or (is_wide and rows <= MOST_ROWS / 2) then break end
  end
  if is_spread and top == held then break end
  local look_in = '-'
  if asker ~= '' and waiting > 0 then
    if front == nil then
      front = try('zrangebylex', order, '[q', '(r', 'limit', '0', '1')[1]
      local entry = front and try('hget', records, 't' .. sub(front, 10))
      if entry and type(entry) ~= 'string' then break end
      front_inbox = entry and sub(entry, 35, 66)
    end
    if front and front_inbox == asker then
      if due - passed < bound then break end
      look_in = format('%d', max(bound, 1))
    end
  end

  local milliseconds
  if pinned < 0 then
    local ahead = fence - now
    local owed = ahead >= 0 and ahead <= HALF_DAY + HALF_DAY and ahead + 1 or 0
    local need = max(is_idle and memory - clock or longest + HALF_DAY, owed)
    local most = need + ((is_idle and given_now == '') and SECOND or HALF_DAY)
    local left = deadline - now
    if deadline <= 0 or left < need or left > most then
      deadline, milliseconds = now + most, format('%d', floor(most / 1000))
    end
  end
  -- Where the record is the only row, it and the head become one value. A pinned name has no
  -- deadline, so it stays rows. The only row has the series of its lease, nothing in it is parked,
  -- and no ticket has an entry by itself. A name that is held without a stated limit, as after an
  -- unpin, also stays rows, because a value always states a limit.
  local folds = is_packed and is_changed and rows == 1 and flags == 0 and deadline > 0
    and not (set or add or remove)
    and (not saved or (next(saved) == field and not next(saved, field)))
    and (held == 0 or (what == 3 and by == inbox and stated >= 0)) and #causes < 256
  if is_apart or apart then
    del = del or {}
    del[#del + 1] = 'a'
  end
  set = set or {}
  at = #set
  if folds then
    if not lone_field and text then
      del = del or {}
      del[#del + 1] = field
    end
    saved, is_changed = nil, false
    local owner = inbox .. sub(field, 2, 25)
    set[1], set[2] = 'h', held == 0
      and pack(PACK_IDLE, IDLE_VERSION, owner, 0, last, clock, now, fence, deadline, till, recent)
        .. causes
      or pack(PACK_LONE, LONE_VERSION, owner, members, digest, clock, now, fence, bound, deadline,
        lease_ttl, ends, ends_wall, 0, last, till, string.byte(kind), stated, held, top, recent,
        #free / 8, #causes) .. free .. causes .. tickets
  else
    set[at + 1], set[at + 2] = 'h', pack(HEAD, VERSION, FIELDS_OF_HEAD, #free / 8) .. free
  end
  if is_changed then
    set[at + 3], set[at + 4] = field, pack(RECORD, what, last, till, open, lease_ttl, ends,
      ends_wall, members, digest, parked, by, listed, #causes) .. causes .. tickets
  end
  if saved then
    for other, kept in pairs(saved) do
      if kept and (other ~= field or not is_changed) then
        set[#set + 1] = other
        set[#set + 1] = kept
      end
    end
  end
  if not text and ALWAYS_LISTED then
    add = add or {}
    add[#add + 1] = '0'
    add[#add + 1] = 'z'
  end
  if not text and SETTLING then
    set[#set + 1] = 'n'
    set[#set + 1] = call('cluster', 'myid') .. ' 0'
  end

  -- The server may refuse the first write, and then the general path reports that. For lack of
  -- memory it refuses only a call that does nothing but grow: after a removal, Redis lets every
  -- write of the script pass. After the first write the call cannot be undone.
  local failed = try('hset', records, unpack(set))
  if type(failed) == 'table' then
    if is_growth or type(try('hdel', records, '-')) == 'table' then break end
    if type(try('hset', records, unpack(set))) == 'table' then break end
  end
  failed = del and #del > 0 and try('hdel', records, unpack(del))
  local refused = type(failed) == 'table' and failed
  failed = add and #add > 0 and try('zadd', order, unpack(add))
  refused = type(failed) == 'table' and failed or refused
  failed = remove and #remove > 0 and try('zrem', order, unpack(remove))
  refused = type(failed) == 'table' and failed or refused
  if milliseconds then try('pexpire', records, milliseconds) end
  if deadline > 0 and (ALWAYS_LISTED or waiting > 0 or flags > 0)
      and (milliseconds or not had_order) then
    try('pexpire', order, milliseconds or format('%d', max(floor((deadline - now) / 1000), 1)))
  end
  -- A wakeup is only a hint. If this user may not publish, waiters look again in time.
  for k = 1, messages and #messages or 0, 2 do try(PUBLISH, messages[k], messages[k + 1]) end
  if refused then
    return redis.error_reply('SEINPAALTORN ' .. string.gsub(refused.err, '[\r\n]', ' '))
  end
