-- One call about one name: acquire, release, renew, prove, cancel. It reads the header and the
-- record of the first request, lets time pass, executes the requests, writes once, and answers.
--
-- The common cases are written straight on, with the header and one record in locals: a grant at
-- once, a refusal, a release that nobody waits for, a renewal. What else there is goes through the
-- functions of records.lua, serve.lua and general.lua, which are made only then. The locals are
-- handed to them in `L`, and taken back afterwards.
--
-- README.md has the formats of requests and answers.

-- index     which name of the call, and `argument` its requests
-- progress  is told when something has been written
-- guard     gives for how long the restart guard still admits nobody; nil without the option
-- The rest are the formats of layout.lua, and what makes the functions: they are parameters, because
-- capturing them would cost more.
local function step(index, argument, progress, guard, VERSION, HEAD, HEAD_SIZE, RECORD, RECORD_SIZE, ROW,
    ROW_SIZE, note_length, add_records, add_serving, add_general, add_named)
  local call, pack, read, sub, byte = redis.call, struct.pack, struct.unpack, string.sub, string.byte
  local UNBOUNDED, DIGESTS, SECOND, HALF_DAY = 9007199254740992, 281474976710656, 1000000, 43200000000
  local key, order = KEYS[2 * index - 1], KEYS[2 * index]
  local version, options, now, seen, asker, at = read('<BBddc16', argument)
  if version ~= 1 or seen > 4503599627370496 or seen < 0 then
    error({ refusal = 'SEINPAALARGUMENT the start of the requests' }, 0)
  end
  if now < 0 then
    local time = call('time')
    now = time[1] * SECOND + time[2]
  end

  -- The record of the first request, if there is one.
  local own = #argument > at + 17 and sub(argument, at + 3, at + 18) or ''
  local found = call('hmget', key, 'h', 'l' .. own)
  local head, text = found[1], found[2]

  local kind, flags, uses, limit, held, holders, waiting, top, clock, wall, fence, bound, due,
    deadline, remembered
  local shift, arrival = 0, 0
  if head then
    version = byte(head)
    if version ~= VERSION then
      local is_ours = version and version > 11 and version < 64
      error({ refusal = is_ours and 'SEINPAALFORMAT the name is kept in another format'
        or 'SEINPAALCORRUPT the header cannot be read' }, 0)
    end
    if #head < HEAD_SIZE then error({ refusal = 'SEINPAALCORRUPT the header is too short' }, 0) end
    version, kind, flags, uses, limit, held, holders, waiting, top, clock, wall, fence, bound, due,
      deadline, remembered = read(HEAD, head)
    if #head > HEAD_SIZE then shift, arrival = read('<dd', head, HEAD_SIZE + 1) end
  else
    if call('exists', key) == 1 then error({ refusal = 'SEINPAALCORRUPT the hash has no header' }, 0) end
    -- Members that a lost hash has left behind would be taken for slots and waiters of this name.
    call('unlink', order)
    kind, flags, uses, limit, held, holders, waiting, top, clock, wall, fence, bound, due, deadline,
      remembered = 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, UNBOUNDED, UNBOUNDED, 0, 0
  end
  local is_pinned, is_stated, is_plain = flags % 4 >= 2, flags % 8 >= 4, flags % 2 == 0 and flags < 8

  -- Time passes. A step back of the server's clock leaves the ledger's clock where it is.
  local passed = now - wall
  if passed < 0 then shift, passed = shift - passed, 0 end
  clock = clock + (passed < bound and passed or bound)
  local steady = now + shift
  if seen > fence then fence = seen end

  -- The record under way. `tail` is what follows its fixed part; the rows begin at `first_row`.
  local inbox, ends, ends_wall, shared_ttl, last, till, digest, members, listed, record_flags,
    about_size, reasons_size, tail, first_row
  -- Whether the locals above have the record `own`; whether it was changed; the earliest new end in it,
  -- of which the order may have to know.
  local in_hand, is_changed, earliest = false, false, nil
  -- Records that were changed and put away, as text; members for the order; free slots for it.
  local texts, adds, removes, free
  -- The limit that was stated while another one is pinned; how long a hold took.
  local stated_below, took
  local is_order_new = not head
  -- What the functions have to do next, with the place of its request.
  local L, task, task_at, task_to
  local replies, ended = '', false
  local first = at
  local size_of_argument, first_id = #argument, own
  -- Whether the call does nothing but grow the name.
  local grows = at <= size_of_argument
  if due <= steady or waiting > 0 and held < limit then task = 'expire_and_grant' end

  repeat
    local reply, op, to, id
    ended = at > size_of_argument
    if not ended and not task then
      local size
      op, size = read('<BI2', argument, at)
      to, at = at + 2 + size, at + 3
      if to > size_of_argument then error({ refusal = 'SEINPAALARGUMENT a request is cut off' }, 0) end
      id = sub(argument, at, at + 15)
    end

    -- Puts the record away, if the next step is about another one.
    if in_hand and id ~= own then
      if earliest and (listed == 0 or earliest < listed) then
        if listed > 0 then
          removes = removes or {}
          removes[#removes + 1] = pack('>c1I8c16', 'e', listed, own)
        else
          is_order_new = true
        end
        adds = adds or {}
        adds[#adds + 1], adds[#adds + 2] = '0', pack('>c1I8c16', 'e', earliest, own)
        listed = earliest
        if listed < due then due = listed end
      end
      if is_changed then
        texts = texts or {}
        texts[own] = pack(RECORD, inbox, ends, ends_wall, shared_ttl, last, till, digest, members, listed,
          record_flags, about_size, reasons_size) .. tail
      end
      in_hand = false
    end

    if task or ended and (L or waiting > 0 or not texts and held + waiting == 0) then
      -- Hands over to the functions, and takes the header back.
      if not L then
        L = {
          key = key, order = order, now = now, steady = steady, asker = asker, guard = guard, shift = shift,
          version = VERSION, is_new = not head, is_sharded = options % 4 >= 2, is_moving = options % 8 >= 4,
          listens = options % 2 == 1, wall = wall, is_paused = flags % 2 == 1, is_named = flags >= 8,
          arrival = arrival, records = {}, texts = texts or {}, known = {}, settings = {}, kind = 0, uses = uses,
          limit = 0, held = 0, holders = 0, waiting = 0, top = 0, clock = clock, fence = 0, bound = 0, due = 0,
          deadline = deadline, remembered = 0, is_pinned = is_pinned, is_stated = false, progress = progress,
          note_length = note_length,
          is_order_new = is_order_new, grows = true,
        }
        texts = L.texts
        if own ~= '' then L.known[first_id] = text or false end
        local scan = first
        while scan < size_of_argument do
          local other, size = read('<BI2', argument, scan)
          if other ~= 1 then L.grows = false end
          scan = scan + 3 + size
        end
        add_records(L, RECORD, RECORD_SIZE, ROW, ROW_SIZE)
        add_serving(L)
        if flags >= 8 then add_named(L) end
      end
      L.kind, L.limit, L.held, L.holders, L.waiting, L.top, L.fence, L.bound, L.due, L.remembered, L.is_stated =
        kind, limit, held, holders, waiting, top, fence, bound, due, remembered, is_stated
      L.is_order_new = L.is_order_new or is_order_new
      if stated_below then L.settings.s, stated_below = pack('<I4', stated_below), nil end
      if took then L.settings.r, took = note_length(call('hget', key, 'r'), took), nil end
      for i = 1, free and #free or 0 do L.add(free[i]) end
      for i = 2, adds and #adds or 0, 2 do L.add(adds[i]) end
      for i = 1, removes and #removes or 0 do L.remove(removes[i]) end
      free, removes, adds = nil, nil, nil
      if task == 'expire_and_grant' then
        L.expire_and_grant()
      elseif task == 'serve' then
        L.serve()
      elseif task then
        if add_general then
          add_general(L)
          add_general = nil
        end
        reply = L[task](argument, task_at, task_to)
      end
      task = nil
      kind, limit, held, holders, waiting, top, fence, bound, due, remembered, is_stated =
        L.kind, L.limit, L.held, L.holders, L.waiting, L.top, L.fence, L.bound, L.due, L.remembered, L.is_stated
    elseif not ended then
      if not in_hand then
        -- Takes a record up: as it was put away, as the functions have it, as it came with the header, or
        -- from the server.
        local record, of_functions = texts and texts[id], nil
        is_changed, earliest = record ~= nil, nil
        if not record and L then
          of_functions = L.records[id]
          if of_functions then record, is_changed = L.text_of(of_functions), of_functions.is_changed end
          L.records[id] = nil
        end
        if not record and id == first_id and of_functions == nil then
          record = text
        elseif not record and of_functions == nil then
          record = call('hget', key, 'l' .. id)
        end
        if texts then texts[id] = nil end
        own, in_hand = id, true
        if record then
          if #record < RECORD_SIZE then error({ refusal = 'SEINPAALCORRUPT a record is too short' }, 0) end
          inbox, ends, ends_wall, shared_ttl, last, till, digest, members, listed, record_flags, about_size,
            reasons_size = read(RECORD, record)
          tail = sub(record, RECORD_SIZE + 1)
          first_row = about_size + reasons_size + 1
          if record_flags > 0 then
            first_row = first_row + (record_flags % 2 == 1 and 26 or 0) + (record_flags >= 2 and 8 or 0)
          end
        else
          inbox, ends, ends_wall, shared_ttl, last, till, digest, members, listed, record_flags, about_size,
            reasons_size, tail, first_row = asker, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '', 1
        end
      end

      if op == 3 then
        -- Renew all tickets of a lease, if client and server agree on which these are.
        local _, of_waiters, ttl, margin, its_members, its_digest = read('<c16BddI4d', argument, at)
        if not (ttl >= 100000 and ttl <= 2 * HALF_DAY and margin >= 0) then
          error({ refusal = 'SEINPAALARGUMENT a renewal' }, 0)
        end
        if of_waiters > 0 then
          task = 'renew_waiters'
        elseif members == 0 then
          reply = '\12'
        elseif members ~= its_members or digest ~= its_digest or inbox ~= asker then
          reply = '\11'
        else
          ends, ends_wall, is_changed, grows = clock + ttl, now + ttl, true, false
          if margin < bound then bound = margin end
          if steady + ttl < listed then earliest = steady + ttl end
          reply = pack('<BdI2', 10, ttl, 0)
        end
      elseif op == 1 then
        local _, number, its_kind, rule, wants, permits, asked, ttl, margin, not_after, most, priority,
          waiter_ttl, about_at = read('<c16I4BBBI4I4ddddbd', argument, at)
        if permits < 1 or permits > 1000000000 or asked > 1000000000 or rule > 4
            or not (ttl >= 100000 and ttl <= 2 * HALF_DAY and margin >= 0 and waiter_ttl >= 100000
              and waiter_ttl <= 2 * HALF_DAY)
            or priority > 100 or priority < -100 or to - about_at > 4096 + 65536 * (wants % 2) then
          error({ refusal = 'SEINPAALARGUMENT an acquire' }, 0)
        end
        -- A known ticket: below the last number, or a waiter. Rows and reasons tell how it went.
        local is_known = number <= last
        if is_known or record_flags % 2 == 1 then
          local row = first_row
          while row <= #tail do
            local its_number, row_flags, more = read('<I4BI2', tail, row)
            if its_number == number and row_flags % 16 < 8 then
              is_known, row = true, nil
              break
            end
            row = row + ROW_SIZE + more
          end
          if row == nil or is_known then task = 'look' end
        end
        if now > not_after then
          task, reply = nil, '\7'
        elseif not task then
          -- The terms. The last holder may have left in this call, and what it stated with it.
          if held + waiting == 0 then
            is_stated = false
            if not is_pinned then kind, limit = 0, 1 end
          end
          local is_new = rule == 3 or (rule > 0 and not is_stated)
          local in_force = is_new and not is_pinned and asked or limit
          if kind ~= 0 and kind ~= its_kind then
            reply = pack('<BBB', 4, kind, its_kind)
          elseif (rule == 4 or rule == 1 and not is_pinned) and (is_pinned or is_stated) and limit ~= asked then
            reply = pack('<BI4I4B', 5, limit, asked, is_pinned and 1 or 0)
          elseif permits > in_force and in_force > 0 then
            reply = pack('<BI4I4', 6, permits, in_force)
          elseif waiting > 0 or not is_plain or wants > 0 or guard and guard(now) > 0 then
            task = 'want'
          else
            -- A limit that is set, or is the first one, stays stated even if this request is refused.
            if rule == 3 or in_force ~= limit then
              is_stated = true
              if is_pinned then stated_below = asked else limit = in_force end
            end
            local slot = top
            if permits > in_force - held then
              slot = nil
              if most < 0 then reply = pack('<BBI4I4I4B', 3, 1, in_force, held, waiting, 0) end
            elseif held < top then
              -- The lowest free slots, if they are in one piece.
              local member = not free and call('zrangebylex', order, '[f', '(g', 'limit', '0', '1')[1]
              slot = nil
              if member then
                local _, low, high = read('>c1I8I8', member)
                if low + permits - 1 <= high then
                  slot, progress.has_written = low, true
                  call('zrem', order, member)
                  if low + permits <= high then
                    call('zadd', order, '0', pack('>c1I8I8', 'f', low + permits, high))
                  end
                end
              end
            else
              top = top + permits
            end
            if not slot then
              if not reply then task = 'want' end
            else
              kind = its_kind
              if is_pinned then
                if is_new then is_stated, stated_below = true, asked end
              else
                is_stated, limit = true, in_force
              end
              local about, more, row_flags = sub(argument, about_at, to), '', 0
              if #tail < first_row then
                -- No ticket stands here, so this one says what all of them share.
                inbox, shared_ttl = asker, ttl
                if about ~= sub(tail, 1, about_size) then
                  tail = about .. sub(tail, about_size + 1)
                  first_row = first_row + #about - about_size
                  about_size = #about
                end
              else
                if inbox ~= asker or members >= 64 then
                  error({ refusal = inbox == asker and 'SEINPAALARGUMENT a lease has at most 64 tickets'
                    or 'SEINPAALARGUMENT the series is another client\'s' }, 0)
                end
                if ttl ~= shared_ttl then row_flags, more = 32, pack('<d', ttl) end
                if about ~= sub(tail, 1, about_size) then
                  row_flags, more = row_flags + 64, more .. about
                end
              end
              if members == 0 then
                ends, ends_wall = clock + ttl, now + ttl
                if listed == 0 or steady + ttl < listed then earliest = steady + ttl end
              end
              if options % 2 == 0 then
                -- The client does not listen yet.
                tail = sub(tail, 1, first_row - 1) .. pack('<d', now + 2000000) .. sub(tail, first_row)
                if record_flags >= 2 then
                  tail = sub(tail, 1, first_row - 9) .. sub(tail, first_row)
                else
                  record_flags, first_row = record_flags + 2, first_row + 8
                end
              end
              held, holders = held + permits, holders + 1
              fence = fence < now and now or fence + 1
              local a, b, c = byte(own, 10, 12)
              local mixed = (number * 69069 + a * 65536 + b * 256 + c) % 16777216
              members, digest = members + 1, (digest + mixed * (mixed * mixed % 16777216)) % DIGESTS
              if number > last then last = number end
              if clock + ttl > till then till = clock + ttl end
              if till > remembered then remembered = till end
              if margin < bound then bound = margin end
              tail = tail .. pack(ROW, number, row_flags, #more, permits, fence, slot) .. more
              is_changed = true
              reply = pack('<BdI4dI2I4I4I2', 1, fence, limit, ends > clock and ends - clock or 0, 1, slot,
                slot + permits - 1, 0)
            end
          end
        end
      elseif op == 2 or op == 4 then
        -- Release or prove one ticket. Anything unusual about it is left to the functions.
        local number = read('<I4', argument, at + 16)
        local row = first_row
        local its_number, row_flags, more, permits, its_fence, slot
        while row <= #tail do
          its_number, row_flags, more, permits, its_fence, slot = read(ROW, tail, row)
          if its_number == number and row_flags % 16 < 8 then break end
          row = row + ROW_SIZE + more
        end
        if row > #tail or row_flags ~= 0 and row_flags ~= 64 or inbox ~= asker then
          task = op == 2 and 'release' or 'renew_ticket'
        elseif op == 4 then
          local ttl, margin = read('<dd', argument, at + 20)
          if not (ttl >= 100000 and ttl <= 2 * HALF_DAY and margin >= 0) then
            error({ refusal = 'SEINPAALARGUMENT a renewal' }, 0)
          end
          if flags >= 8 then
            task = 'renew_ticket'
          else
            ends, ends_wall, is_changed, grows = clock + ttl, now + ttl, true, false
            if margin < bound then bound = margin end
            if steady + ttl < listed then earliest = steady + ttl end
            reply = pack('<BdI2BdI2I4I4I2', 13, ttl, 1, 1, its_fence, 1, slot, slot + permits - 1, 0)
          end
        elseif to > at + 19 then
          task = 'release' -- of some slots
        else
          tail = sub(tail, 1, row - 1) .. sub(tail, row + ROW_SIZE + more)
          if now % SECOND < now - wall then took = now - its_fence end
          local a, b, c = byte(own, 10, 12)
          local mixed = (number * 69069 + a * 65536 + b * 256 + c) % 16777216
          members, digest = members - 1, (digest - mixed * (mixed * mixed % 16777216)) % DIGESTS
          if clock + shared_ttl > till then till = clock + shared_ttl end
          if till > remembered then remembered = till end
          if members == 0 and steady + till - clock < listed then earliest = steady + till - clock end
          is_changed, grows = true, false
          local had_free = held < top
          held, holders = held - permits, holders - 1
          if held == 0 then
            if had_free then
              call('zremrangebylex', order, '[f', '(g')
              progress.has_written = true
            end
            top, free = 0, nil
          elseif slot + permits == top then
            top = slot
          else
            free = free or {}
            free[#free + 1] = pack('>c1I8I8', 'f', slot, slot + permits - 1)
          end
          reply = '\14\0\0\0\0'
          if waiting > 0 then task = 'serve' end
        end
      elseif op == 5 then
        task = 'cancel'
      elseif op == 6 then
        task = 'renew_tickets'
      else
        error({ refusal = 'SEINPAALARGUMENT no such request here' }, 0)
      end

      task_at, task_to, at = at, to, to + 1
    end
    if reply then replies = replies .. reply end
  until ended and not task

  if L then return L.finish() .. replies end

  -- Nobody waits. Writes the header, and the records that were changed.
  local is_idle, expires = held == 0, nil
  if is_idle then
    bound, is_stated = UNBOUNDED, false
    if not is_pinned then kind, limit = 0, 1 end
  end
  if deadline > 0 or not is_pinned and flags % 2 == 0 then
    local need, most, left = 3 * HALF_DAY, UNBOUNDED, deadline - now
    if is_idle then
      need = remembered - clock
      if fence >= now and fence <= now + 2 * HALF_DAY and fence - now >= need then need = fence - now + 1 end
      if uses < 16 then most = need + HALF_DAY end
    end
    if left < need or left > most then
      if uses < 16 then uses = uses + 1 end
      deadline = now + need + (is_idle and SECOND or HALF_DAY)
      expires = string.format('%d', math.floor((deadline - now) / 1000))
    end
  end
  flags = flags - flags % 8 + flags % 4 + (is_stated and 4 or 0)
  head = pack(HEAD, VERSION, kind, flags, uses, limit, held, holders, waiting, top, clock, now, fence, bound,
    due, deadline, remembered)
  if shift > 0 or arrival >= clock then head = head .. pack('<dd', shift, arrival) end
  local fields, count = { 'h', head }, 2
  for id, record in pairs(texts or {}) do
    fields[count + 1], fields[count + 2], count = 'l' .. id, record, count + 2
  end
  if stated_below then
    fields[count + 1], fields[count + 2], count = 's', pack('<I4', stated_below), count + 2
  end
  if took then
    fields[count + 1], fields[count + 2] = 'r', note_length(call('hget', key, 'r'), took)
  end
  local is_sharded = options % 4 >= 2
  if is_sharded and is_order_new then
    adds = adds or {}
    adds[#adds + 1], adds[#adds + 2] = '0', 'z'
  end
  local unpack = unpack or table.unpack
  -- A server without free memory refuses the first write. If the call does more than grow, it has to
  -- succeed: after a removal, Redis lets every write of a script pass.
  local refused = redis.pcall('hset', key, unpack(fields))
  if type(refused) == 'table' and refused.err then
    if progress.has_written or grows then error(refused, 0) end
    call('hdel', key, '-')
    call('hset', key, unpack(fields))
  end
  progress.has_written = true
  if adds then call('zadd', order, unpack(adds)) end
  if removes then call('zrem', order, unpack(removes)) end
  for i = 1, free and #free or 0 do call('zadd', order, '0', free[i]) end
  if expires then
    call('pexpire', key, expires)
    call('pexpire', order, expires)
  elseif is_order_new and deadline > 0 then
    call('pexpire', order, string.format('%d', math.max(math.floor((deadline - now) / 1000), 1)))
  end
  return pack('<Bdd', 0, now, -1) .. replies
end
