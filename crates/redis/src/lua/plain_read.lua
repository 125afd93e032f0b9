-- plain_read: reads the head, finds the first waiter where something is free, and reads the record
--   of each request.
-- keys   records order
-- args   those of acquire, release and renew
-- reply  nothing
-- cost   one HGET for each record; where slots are free and tickets wait, one ZRANGEBYLEX, one
--        HMGET and one PUBSUB for each waiter that gets some, and for the first that gets none

  if lone_head then
    if #lone_record > RECORD_SIZE + MOST_INLINE then break end
    text, record = lone_head, lone_field == field and lone_record
  elseif record == nil and text then
    record = try('hget', records, field)
  end
  if type(text) == 'table' or type(record) == 'table' then break end
  local version, FIELDS_OF_HEAD, ranges
  if text then
    if #text < HEAD_SIZE then break end
    version, FIELDS_OF_HEAD, ranges = read(HEAD, text)
    if version ~= VERSION or flags % 2 == 1 or #text ~= HEAD_SIZE + 8 * ranges
        or (pinned >= 0 and deadline > 0) then
      break
    end
  else
    if record or try('exists', records, order) ~= 0 then break end
    FIELDS_OF_HEAD, ranges = BLANKS_OF_HEAD, 0
  end
  local step = max(now - wall, 0)
  clock, wall, passed, fence = clock + min(step, bound), now, passed + step, max(fence, seen + 0)
  if passed >= due then break end
  local limit = pinned >= 0 and pinned or stated >= 0 and stated or 1
  local free, is_wide, is_spread = ranges > 0 and sub(text, HEAD_SIZE + 1) or '',
    flags % 4 >= 2, flags >= 4
  local had_order = text and ALWAYS_LISTED or waiting > 0 or flags > 0

  -- The record of the request, and the other writes of this call besides it and the head.
  local what, last, till, open, lease_ttl, ends, ends_wall, members, digest, parked, by,
    listed, size
  local causes, tickets, is_there, is_changed, is_read
  local saved, set, del, add, remove, messages, has_taken_free = lone_field
    and { [lone_field] = lone_record }
  -- front: the first waiter in line, if it is known, and false for none. is_blocked: whether the
  -- first waiter wants more than is free, or has to wait for the next call. heir: the waiter that
  -- gets the free slots. handed: how many waiters have got slots. backlog: whether more waiters
  -- could get slots, as the answer says it.
  local front, front_inbox, is_blocked, has_queued, heir, heir_text, handed, backlog, replies =
    nil, nil, false, false, nil, nil, 0, '0', {}
  -- of_first: the field of the first request's record. If the first waiter is served before that
  -- request, field is the waiter's by then.
  local is_growth, i, at, of_first = true, 4, nil, field

  while i <= #ARGV or (waiting > 0 and held < limit and not is_blocked) do
    if waiting > 0 and held < limit and not is_blocked then
      -- Slots are free, and the first waiter gets them. If it wants more, it holds up the line as
      -- long as its client listens.
      local line_up = has_queued and {}
        or try('zrangebylex', order, '[q', '(r', 'limit', handed, '2')
      local ticket, to, wanted, _ = line_up[1] and sub(line_up[1], 10), nil, nil, nil
      front = line_up[2] or false
      local names = { 't' .. (ticket or ''), 'r' .. sub(ticket or '', 1, 24) .. '00000000',
        front and inbox ~= NOBODY and 't' .. sub(front, 10) or nil }
      heir_text = ticket and try('hmget', records, unpack(names)) or {}
      local kept, listeners = heir_text[1], 1
      if type(kept) == 'string' and #kept >= WAITER_SIZE and sub(kept, 1, 1) == 'W' then
        _, _, _, to, wanted = read(WAITER, kept)
        if to ~= NOBODY and to ~= asker and LISTENERS then
          listeners = try('pubsub', LISTENERS, match(records, BEFORE_INBOX) .. INBOX .. to)[2]
        end
      end
      if not wanted or wanted > limit or not listeners or listeners == 0 then
        i = 0
        break
      end
      if wanted > limit - held then
        is_blocked, front, front_inbox = true, line_up[1], to
      elseif handed == WORK then
        -- A call that has granted so much leaves the rest to the next one. So what it writes at its
        -- end is not too much for one command.
        is_blocked, backlog, front, front_inbox = true, '1', line_up[1], to
      else
        heir, handed, remove = ticket, handed + 1, remove or {}
        remove[#remove + 1], front_inbox = line_up[1], heir_text[3] and sub(heir_text[3], 35, 66)
      end
    end
    if i > #ARGV and not heir then break end
    local line, reply, want, ticket, permits, ttl, margin, about, slot, number =
      ARGV[i], nil, nil, nil, nil, nil, nil, nil, nil, nil
    local asked_kind, rule, asked_limit, most, priority, place_ttl, not_after, is_own, whom
    local is_granted, is_done = false, false
    local operation = heir and 0 or string.byte(line, 3)
    repeat
      -- The record that the request is about.
      if operation == 0 then
        want = 'r' .. sub(heir, 1, 24) .. '00000000'
      elseif operation == 113 then -- acquire
        if #line < ASK_SIZE + 64 then break end
        ticket, number, is_own, asked_kind, permits, rule, asked_limit, ttl, margin, not_after,
          most, priority, place_ttl, at = read(ASK, line, 9)
        if is_own ~= 1 or now > not_after then break end
        want = i == 4 and of_first or 'r' .. sub(ticket, 1, 24) .. '00000000'
      elseif operation == 108 then -- release
        if #line ~= 44 or sub(line, 41) ~= ' all' then break end
        ticket = sub(line, 9, 40)
        want = i == 4 and of_first or 'r' .. sub(ticket, 1, 24) .. '00000000'
      else
        want, ttl, margin, whom = match(line, '^renew ([0-9a-f]+) (%d+) (%d+) (%l+ .*)$')
        if not want or #want ~= 32 then break end
        want = 'r' .. want
      end
      if want ~= field or not is_read then
        if want ~= field then
          if is_changed then
            saved = saved or {}
            saved[field] = pack(RECORD, what, last, till, open, lease_ttl, ends, ends_wall, members,
              digest, parked, by, listed, #causes) .. causes .. tickets
          end
          field, is_changed, record = want, false, saved and saved[want]
          if record == false then break end
          if record == nil then
            if operation == 0 then
              record = heir_text[2]
            else
              record = try('hget', records, want)
            end
          end
        end
        is_read = true
        if record then
          if type(record) == 'table' or #record < RECORD_SIZE then break end
          what, last, till, open, lease_ttl, ends, ends_wall, members, digest, parked, by, listed,
            size = read(RECORD, record)
          causes, tickets, is_there = '', '', true
          if #record < RECORD_SIZE + size then break end
          if #record > RECORD_SIZE then
            causes, tickets = sub(record, RECORD_SIZE + 1, RECORD_SIZE + size),
              sub(record, RECORD_SIZE + size + 1)
          end
        else
          what, last, till, open, lease_ttl, ends, ends_wall, members, digest, parked, by, listed,
            size = 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NOBODY, 0, 0
          causes, tickets, is_there = '', '', false
        end
      end

