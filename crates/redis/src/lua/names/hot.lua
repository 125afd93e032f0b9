-- Acquire, release, renew, prove and cancel. For each name of the call: reads the header and the record of
-- the first request, lets time pass, executes the requests, writes once, and answers.
--
-- The common cases are written straight on, with the header and one record in locals: a grant at once, a
-- refusal, a release that nobody waits for, a renewal. What else there is goes through the functions of
-- records.lua, serve.lua and the files after them, which are made only then. The locals are handed to them
-- in `L`, and taken back afterwards.
--
-- KEYS   for each name its hash and its order; with the restart guard, the marker
-- ARGV   for each name its requests; with the restart guard, its length
-- The answer is a text, or for several names a list with a text or an error for each. README.md has the
-- formats.

local call, pack, read, sub = redis.call, struct.pack, struct.unpack, string.sub
local names, answers = #KEYS / 2, nil
if guard then names = names - 0.5 end

for name = 1, names do
  local key, order, argument = KEYS[2 * name - 1], KEYS[2 * name], ARGV[name]
  local version, options, now, seen, asker, op, size, own, at
  local size_of_argument, to = #argument, #argument
  if size_of_argument > 37 then
    version, options, now, seen, asker, op, size, own, at = read('<BBddc16BI2c16', argument)
    to = 37 + size
  else
    -- Without a request, time passes, and waiters are served.
    version, options, now, seen, asker = read('<BBddc16', argument)
    own, at = '', 0
  end
  -- A refusal of the call, after which nothing is written.
  local refusal
  if version ~= 1 or seen > 4503599627370496 or seen < 0 or to > size_of_argument then
    refusal, to = 'SEINPAALARGUMENT the start of the requests', size_of_argument
  end
  if now < 0 then
    local time = call('time')
    now = time[1] * 1000000 + time[2]
  end

  local field = 'l' .. own
  local found = call('hmget', key, 'h', field)
  local head, text = found[1], found[2]
  local kind, flags, uses, limit, held, holders, waiting, top, clock, wall, fence, bound, due, deadline,
    remembered, trailer_at
  local shift, arrival = 0, 0
  if head and #head >= HEAD_SIZE then
    version, kind, flags, uses, limit, held, holders, waiting, top, clock, wall, fence, bound, due,
      deadline, remembered, trailer_at = read(HEAD, head)
    if #head >= trailer_at then shift, arrival = read('<dd', head, trailer_at) end
  else
    version, kind, flags, uses, limit, held, holders, waiting, top, clock, wall, fence, bound, due, deadline,
      remembered = VERSION, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2 ^ 53, 2 ^ 53, 0, 0
    if head then
      version = string.byte(head) or 0
      refusal = 'SEINPAALCORRUPT the header is too short'
    elseif call('exists', key) == 1 then
      refusal = 'SEINPAALCORRUPT the hash has no header'
    else
      -- Members that a lost hash has left behind would be taken for slots and waiters of this name.
      call('unlink', order)
    end
  end
  if version ~= VERSION then
    refusal = version > 11 and version < 64 and 'SEINPAALFORMAT the name is kept in another format'
      or 'SEINPAALCORRUPT the header cannot be read'
  end
  -- Nearly always a limit is stated, and nothing is configured. That is 4.
  local is_pinned, is_stated, is_plain = false, flags == 4, true
  if flags ~= 4 and flags > 0 then
    is_pinned, is_stated, is_plain = flags % 4 >= 2, flags % 8 >= 4, flags % 2 == 0 and flags < 8
  end

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
  -- Records that were changed and put away, as text: the only one, or all by their ids. Members that are
  -- to be added to the order and removed from it, and free slots for it.
  local only, texts, adds, removes, free
  -- The limit that was stated while another one is pinned.
  local stated_below
  local first_id, has_written, is_order_new = own, false, not head
  -- Whether the call does nothing but grow the name.
  local grows = op ~= nil
  -- What the functions have to do next, and the start of the answer once they have ended the call.
  local L, task, start
  local replies, reply, is_over = '', nil, op == nil
  if due <= steady or waiting > 0 and held < limit or not op then task = 'expire_and_grant' end

  repeat
    if refusal then
      task, is_over = nil, true
    elseif task then
      -- Hands over to the functions, and takes the header back.
      local is_request = task ~= 'finish' and task ~= 'expire_and_grant'
      if not L then
        L = {
          key = key, order = order, now = now, steady = steady, asker = asker, guard = guard, shift = shift,
          version = VERSION, is_new = not head, is_sharded = options % 4 >= 2, is_moving = options % 8 >= 4,
          listens = options % 2 == 1, wall = wall, is_paused = flags % 2 == 1, is_named = flags >= 8,
          arrival = arrival, records = {}, texts = texts or {}, known = {}, settings = {}, kind = 0, uses = uses,
          limit = 0, held = 0, holders = 0, waiting = 0, top = 0, clock = clock, fence = 0, bound = 0, due = 0,
          deadline = deadline, remembered = 0, is_pinned = is_pinned, is_stated = false, progress = false,
          is_order_new = false, grows = true, add_expiry = add_expiry,
        }
        L.progress = L
        texts = L.texts
        if only then texts[first_id], only = only, nil end
        L.known[first_id] = text or false
        local scan = 35
        while scan < size_of_argument do
          local other, its_size = read('<BI2', argument, scan)
          if other ~= 1 then L.grows = false end
          scan = scan + 3 + its_size
        end
        if not op then L.grows = false end
        add_records(L, RECORD, RECORD_SIZE, ROW, ROW_SIZE)
        add_serving(L)
        if due <= steady then add_expiry(L) end
        if flags >= 8 then add_named(L) end
      end
      L.kind, L.limit, L.held, L.holders, L.waiting, L.top, L.fence, L.bound, L.due, L.remembered, L.is_stated =
        kind, limit, held, holders, waiting, top, fence, bound, due, remembered, is_stated
      L.is_order_new = L.is_order_new or is_order_new
      L.has_written = L.has_written or has_written
      if is_request and task ~= 'serve' then
        if not L.told then add_acquire(L) end
        if task ~= 'look' and task ~= 'want' and not L.release then add_general(L) end
      end
      local ok, got = pcall(L.run, task, argument, at - 16, to, stated_below, free, adds, removes)
      stated_below, free, adds, removes = nil, nil, nil, nil
      kind, limit, held, holders, waiting, top, fence, bound, due, remembered, is_stated =
        L.kind, L.limit, L.held, L.holders, L.waiting, L.top, L.fence, L.bound, L.due, L.remembered, L.is_stated
      if not ok then
        refusal, is_over = L.refusal_of(got), true
      elseif task == 'finish' then
        start = got
      elseif is_request and task ~= 'serve' then
        reply = got
      end
      task = nil
      if not is_request and not is_over then task = 'skip' end
    else
      if not in_hand then
        -- Takes a record up: as it came with the header, as it was put away, as the functions have it, or
        -- from the server.
        local record = text
        is_changed, earliest, in_hand = false, nil, true
        if texts or only or own ~= first_id then
          local of_functions
          record = texts and texts[own]
          if only and own == first_id then record, only = only, nil end
          is_changed = record ~= nil
          if not record and L then
            of_functions = L.records[own]
            if of_functions then record, is_changed = L.text_of(of_functions), of_functions.is_changed end
            L.records[own] = nil
          end
          if not record and of_functions == nil then
            record = own == first_id and text or own ~= first_id and call('hget', key, 'l' .. own)
          end
          if texts then texts[own] = nil end
        end
        if record then
          if #record < RECORD_SIZE then
            refusal = 'SEINPAALCORRUPT a record is too short'
            record = string.rep('\0', RECORD_SIZE)
          end
          inbox, ends, ends_wall, shared_ttl, last, till, digest, members, listed, record_flags, about_size,
            reasons_size, first_row = read(RECORD, record)
          tail = sub(record, first_row)
          first_row = about_size + reasons_size + 1
          if record_flags > 0 then
            first_row = first_row + (record_flags % 2 == 1 and 26 or 0) + (record_flags >= 2 and 8 or 0)
          end
        else
          inbox, ends, ends_wall, shared_ttl, last, till, digest, members, listed, record_flags, about_size,
            reasons_size, tail, first_row = asker, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '', 1
        end
      end

      if op == 1 then
        local number, its_kind, rule, wants, permits, asked, ttl, margin, not_after, most, priority,
          waiter_ttl, about_at = read('<I4BBBI4I4ddddbd', argument, at)
        if permits < 1 or permits > 1000000000 or asked > 1000000000 or rule > 4 or priority > 100
            or priority < -100 or not (ttl >= 100000 and ttl <= 86400000000 and margin >= 0
              and waiter_ttl >= 100000 and waiter_ttl <= 86400000000)
            or to - about_at > 4096 and wants % 2 == 0 then
          refusal = 'SEINPAALARGUMENT an acquire'
        elseif now > not_after then
          reply = '\7'
        elseif number <= last or record_flags % 2 == 1 then
          task = 'look' -- a ticket that is known already, or may wait
        else
          -- The terms. The last holder may have left in this call, and what it stated with it.
          if held + waiting == 0 then
            is_stated = false
            if not is_pinned then kind, limit = 0, 1 end
          end
          local is_new = rule == 3 or rule > 0 and not is_stated
          local in_force = is_new and not is_pinned and asked or limit
          if kind ~= 0 and kind ~= its_kind then
            reply = pack('<BBB', 4, kind, its_kind)
          elseif in_force ~= asked and (rule == 4 or rule == 1 and not is_pinned) and (is_pinned or is_stated) then
            reply = pack('<BI4I4B', 5, limit, asked, is_pinned and 1 or 0)
          elseif permits > in_force and in_force > 0 then
            reply = pack('<BI4I4', 6, permits, in_force)
          elseif waiting > 0 or not is_plain or wants > 0 or guard and guard(now) > 0 then
            task = 'want'
          else
            -- A limit that is set, or is the first one, stays stated even if this request is refused.
            if is_new and (rule == 3 or in_force ~= limit) then
              is_stated = true
              if is_pinned then stated_below = asked else limit = in_force end
            end
            local slot = top
            if permits > in_force - held then
              slot = nil
              if most < 0 then reply = pack('<BBI4I4I4B', 3, 1, in_force, held, waiting, 0) end
            elseif held == top then
              top = top + permits
            else
              -- The lowest free slots, if they are in one piece.
              slot = nil
              local member = not free and call('zrangebylex', order, '[f', '(g', 'limit', '0', '1')[1]
              if member then
                local _, low, high = read('>c1I8I8', member)
                if low + permits - 1 <= high then
                  slot, has_written = low, true
                  call('zrem', order, member)
                  if low + permits <= high then
                    call('zadd', order, '0', pack('>c1I8I8', 'f', low + permits, high))
                  end
                end
              end
            end
            if slot then
              kind = its_kind
              if not is_pinned then
                is_stated, limit = true, in_force
              elseif is_new then
                is_stated, stated_below = true, asked
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
                if inbox ~= asker then refusal = 'SEINPAALARGUMENT the series is another client\'s' end
                if members >= 64 then refusal = 'SEINPAALARGUMENT a lease has at most 64 tickets' end
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
                tail = sub(tail, 1, first_row - (record_flags >= 2 and 9 or 1)) .. pack('<d', now + 2000000)
                  .. sub(tail, first_row)
                if record_flags < 2 then record_flags, first_row = record_flags + 2, first_row + 8 end
              end
              held, holders = held + permits, holders + 1
              fence = fence < now and now or fence + 1
              local mixed = (number * 69069 + read('>I3', own, 10)) % 16777216
              members, digest = members + 1, (digest + mixed * (mixed * mixed % 16777216)) % 281474976710656
              last, is_changed = number, true
              if clock + ttl > till then till = clock + ttl end
              if till > remembered then remembered = till end
              if margin < bound then bound = margin end
              tail = tail .. pack(ROW, number, row_flags, #more, permits, fence, slot) .. more
              reply = pack('<BdI4dI2I4I4I2', 1, fence, limit, ends > clock and ends - clock or 0, 1, slot,
                slot + permits - 1, 0)
            elseif not reply then
              task = 'want' -- it waits, or gets slots in several ranges
            end
          end
        end
      elseif op == 2 or op == 4 then
        -- Release or prove one ticket. Anything unusual about it is left to the functions. So is a release
        -- that begins a second, which notes how long the hold took.
        local number = read('<I4', argument, at)
        local row = first_row
        local its_number, row_flags, more, permits, its_fence, slot, after
        while row <= #tail do
          its_number, row_flags, more, permits, its_fence, slot, after = read(ROW, tail, row)
          if its_number == number and row_flags % 16 < 8 then break end
          row = after + more
        end
        if row > #tail or row_flags ~= 0 and row_flags ~= 64 or inbox ~= asker then
          task = op == 2 and 'release' or 'renew_ticket'
        elseif op == 4 then
          local ttl, margin = read('<dd', argument, at + 4)
          if not (ttl >= 100000 and ttl <= 86400000000 and margin >= 0) then
            refusal = 'SEINPAALARGUMENT a renewal'
          elseif flags >= 8 then
            task = 'renew_ticket'
          else
            ends, ends_wall, is_changed, grows = clock + ttl, now + ttl, true, false
            if margin < bound then bound = margin end
            if steady + ttl < listed then earliest = steady + ttl end
            reply = pack('<BdI2BdI2I4I4I2', 13, ttl, 1, 1, its_fence, 1, slot, slot + permits - 1, 0)
          end
        elseif to > at + 3 or now % 1000000 < now - wall then
          task = 'release' -- of some slots
        else
          tail = sub(tail, 1, row - 1) .. sub(tail, after + more)
          local mixed = (number * 69069 + read('>I3', own, 10)) % 16777216
          members, digest = members - 1, (digest - mixed * (mixed * mixed % 16777216)) % 281474976710656
          if clock + shared_ttl > till then till = clock + shared_ttl end
          if till > remembered then remembered = till end
          if members == 0 and steady + till - clock < listed then earliest = steady + till - clock end
          is_changed, grows = true, false
          if held == permits then
            if held < top then
              call('zremrangebylex', order, '[f', '(g')
              has_written = true
            end
            held, top, free = 0, 0, nil
          else
            held = held - permits
            if slot + permits == top then
              top = slot
            else
              free = free or {}
              free[#free + 1] = pack('>c1I8I8', 'f', slot, slot + permits - 1)
            end
          end
          holders = holders - 1
          reply = '\14\0\0\0\0'
          if waiting > 0 then task = 'serve' end
        end
      elseif op == 3 then
        -- Renew all tickets of a lease, if client and server agree on which these are.
        local of_waiters, ttl, margin, its_members, its_digest = read('<BddI4d', argument, at)
        if not (ttl >= 100000 and ttl <= 86400000000 and margin >= 0) then
          refusal = 'SEINPAALARGUMENT a renewal'
        elseif of_waiters > 0 then
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
      elseif op == 5 then
        task = 'cancel'
      elseif op == 6 then
        task = 'renew_tickets'
      else
        refusal = 'SEINPAALARGUMENT no such request here'
      end
    end

    -- The next request.
    local next_id = own
    if task == 'skip' then
      task = nil
    elseif not task then
      if reply then replies, reply = replies .. reply, nil end
      if to >= size_of_argument then
        is_over = true
      else
        op, size, next_id, at = read('<BI2c16', argument, to + 1)
        to = to + 3 + size
        if to > size_of_argument then refusal = 'SEINPAALARGUMENT a request is cut off' end
      end
    end

    -- Puts the record away, if the next step is about another one.
    if in_hand and (is_over or task or next_id ~= own) then
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
        local record = pack(RECORD, inbox, ends, ends_wall, shared_ttl, last, till, digest, members, listed,
          record_flags, about_size, reasons_size) .. tail
        if texts or own ~= first_id then
          texts = texts or {}
          texts[own] = record
        else
          only = record
        end
      end
      in_hand = false
    end
    own = next_id
    if is_over and not start and not task and not refusal
        and (L or waiting > 0 or held == 0 and not only and not texts) then
      task = 'finish'
    end
  until is_over and not task

  local answer = start
  if refusal then
    answer = redis.error_reply(refusal)
  elseif start then
    answer = start .. replies
  else
    -- Nobody waits. Writes the header, and the records that were changed.
    local is_idle, expires = held == 0, nil
    if is_idle then
      bound, is_stated = 2 ^ 53, false
      if not is_pinned then kind, limit = 0, 1 end
    end
    if is_plain and not is_pinned then
      -- The keys outlive every lease by half a day; see expiry in serve.lua.
      local need, most, left = 129600000000, 2 ^ 53, deadline - now
      if is_idle then
        need = remembered - clock
        if fence - now >= need and fence <= now + 86400000000 then need = fence - now + 1 end
        if uses < 16 then most = need + 43200000000 end
      end
      if left < need or left > most then
        if uses < 16 then uses = uses + 1 end
        deadline = now + need + (is_idle and 1000000 or 43200000000)
        expires = string.format('%d', math.floor((deadline - now) / 1000))
      end
      flags = is_stated and 4 or 0
    else
      flags = flags - flags % 8 + flags % 4 + (is_stated and 4 or 0)
    end
    head = pack(HEAD, VERSION, kind, flags, uses, limit, held, holders, waiting, top, clock, now, fence, bound,
      due, deadline, remembered)
    if shift > 0 or arrival >= clock then head = head .. pack('<dd', shift, arrival) end

    -- A server without free memory refuses the first write. If the call does more than grow the name, that
    -- has to succeed: after a removal, Redis lets every write of a script pass.
    for try = 1, 2 do
      local refused
      if only and not texts and not stated_below then
        refused = redis.pcall('hset', key, 'h', head, 'l' .. first_id, only)
      else
        local fields = { 'h', head }
        if only then fields[3], fields[4] = 'l' .. first_id, only end
        for id, record in pairs(texts or {}) do
          fields[#fields + 1] = 'l' .. id
          fields[#fields + 1] = record
        end
        if stated_below then
          fields[#fields + 1] = 's'
          fields[#fields + 1] = pack('<I4', stated_below)
        end
        refused = redis.pcall('hset', key, (unpack or table.unpack)(fields))
      end
      if type(refused) ~= 'table' then break end
      if grows or has_written or try == 2 then
        refusal = string.find(refused.err, 'OOM', 1, true) and 'SEINPAALOOM the server has no memory left'
          or (string.gsub(refused.err, '^%-', ''))
        break
      end
      call('hdel', key, '-')
    end
    if refusal then
      answer = redis.error_reply(refusal)
    else
      if options % 4 >= 2 and is_order_new then
        adds = adds or {}
        adds[#adds + 1], adds[#adds + 2] = '0', 'z'
      end
      if adds then call('zadd', order, (unpack or table.unpack)(adds)) end
      if removes then call('zrem', order, (unpack or table.unpack)(removes)) end
      if free then for i = 1, #free do call('zadd', order, '0', free[i]) end end
      if expires then
        call('pexpire', key, expires)
        call('pexpire', order, expires)
      elseif is_order_new and deadline > 0 then
        call('pexpire', order, string.format('%d', math.max(math.floor((deadline - now) / 1000), 1)))
      end
      answer = pack('<Bdd', 0, now, -1) .. replies
    end
  end
  if names == 1 then return answer end
  answers = answers or {}
  answers[name] = answer
end
return answers
