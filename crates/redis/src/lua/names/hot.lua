-- Acquire, release, renew, prove and cancel. For each name of the call: reads the header and the record of
-- the first request, lets time pass, executes the requests, writes once, and answers.
--
-- The common cases are written straight on, with the header and one record in locals: a grant at once, a
-- refusal, a release that nobody waits for, a renewal. What else there is goes through the functions of
-- ledger.lua and rare.lua, which are made only then. The locals are handed to them
-- in `L`, and taken back afterwards.
--
-- KEYS   for each name its hash and its order; with the restart guard, the marker
-- ARGV   for each name its requests; with the restart guard, its length
-- The answer is a text, or for several names a list with a text or an error for each. README.md has the
-- formats.

local call, pack, read, sub = redis.call, struct.pack, struct.unpack, string.sub
local answers

for name = 1, names do
  local key, order, argument = KEYS[2 * name - 1], KEYS[2 * name], ARGV[name]
  local options, seen, asker, op, size, own, at
  local length, to = #argument, #argument
  if length > 33 then
    options, seen, asker, op, size, own, at = read('<Bdc16BI2c16', argument)
    to = 28 + size
  else
    -- Without a request, time passes, and waiters are served.
    options, seen, asker = read('<Bdc16', argument)
    own, at = '', 0
  end
  local now
  if options % 32 < 16 then
    local time = call('time')
    now = time[1] * 1000000 + time[2]
  else
    now, length = read('<d', argument, length - 7), length - 8
    if not op then to = length end
  end
  -- A refusal of the call, after which nothing is written.
  local refusal
  if options < 64 or seen > 4503599627370496 or to > length then
    refusal, to = 'SEINPAALARGUMENT the start of the requests', length
  end

  local found = redis.pcall('hmget', key, 'h', own)
  local head, text = found[1], found[2]
  local version, kind, flags, uses, limit, held, holders, waiting, top, clock, wall, fence, bound, due, deadline,
    remembered, noted = read(HEAD, head and #head >= HEAD_SIZE and head or NEW_HEAD)
  local shift, arrival, front, is_whole = 0, 0, nil, false
  if head then
    local size = #head
    is_whole = waiting == 0 and (size == HEAD_SIZE or size == 97) or waiting > 0 and (size == 122 or sub(head, 98) == '-')
    if is_whole and size > HEAD_SIZE then shift, arrival = read('<dd', head, HEAD_SIZE + 1) end
    if size == 122 then front = sub(head, 98) end
  else
    is_whole = not found.err and call('exists', key, order) == 0
  end
  -- A name whose slots have names, and one that cannot be read, is left to the other script, which takes the
  -- same arguments. The answer is empty then.
  if flags >= 8 or version ~= VERSION or not is_whole then refusal = '' end
  -- Nearly always a limit is stated, and nothing is configured. That is 4.
  local is_pinned, is_stated, is_plain = false, flags == 4, true
  if flags ~= 4 and flags > 0 then
    is_pinned, is_stated, is_plain = flags % 4 >= 2, flags % 8 >= 4, flags % 2 == 0
  end

  -- Time passes. A step back of the server's clock leaves the ledger's clock where it is.
  local passed = now - wall
  if passed < 0 then shift, passed = shift - passed, 0 end
  clock = clock + (passed < bound and passed or bound)
  local steady = now + shift
  if seen > fence then fence = seen end

  -- The record under way. `tail` is what follows its fixed part; the rows begin at `first_row`.
  local inbox, ends, ends_wall, shared_ttl, last, till, digest, members, listed, record_flags, about_size
  local tail, first_row, added = '', 1, ''
  -- Whether the locals have the record `own`; whether it was changed; the earliest new end in it, of which
  -- the order may have to know.
  local in_hand, is_changed, earliest = false, false, 2 ^ 53
  -- Records that were changed and put away, as text: the only one, or all by their ids. Members that are
  -- to be added to the order and removed from it, and free slots for it.
  local only, texts, adds, removes, free
  -- Fields of the hash that are to be written besides the header and the records.
  local settings
  local first_id, has_written, is_order_new = own, false, not head
  -- Whether the call does nothing but grow the name.
  local grows = op ~= nil
  -- The waiter of this call, as the order lists it; after how long to look again; who is to be notified of
  -- what.
  local mine, look, notifications = nil, -1, nil
  -- What the functions have to do next, and the start of the answer once they have ended the call.
  local L, task, start
  -- Whether the first waiter is there, and waits for more permits than are free; how many were granted straight on.
  local stands, served = false, 0
  local replies, reply, is_over = '', nil, op == nil
  if due <= steady or not op then
    task = 'expire_and_grant'
  elseif waiting > 0 and held < limit then
    task = 'serve_first'
  end

  repeat
    if task == 'serve_first' and (L or mine or guard or not front or not is_plain or options % 8 >= 4 or served == 8) then
      task = 'serve'
    end
    if refusal then
      task, is_over = nil, true
    elseif task == 'serve_first' then
      -- Grants to the first waiter, or finds that it is there and waits for more than is free. The functions do
      -- the rest.
      local member, heir = front, sub(front, 10, 21) .. '\0\0\0\0'
      local record = texts and texts[heir]
      if not record and heir == first_id then record = only or text end
      if not record and heir ~= first_id then record = call('hget', key, heir) end
      local its_inbox, its_ends, its_wall, its_ttl, its_last, its_till, its_digest, its_members, its_listed, its_flags,
        its_about, part_at, channel
      local is_there = record and #record > RECORD_SIZE
      if is_there then
        its_inbox, its_ends, its_wall, its_ttl, its_last, its_till, its_digest, its_members, its_listed, its_flags,
          its_about, part_at = read(RECORD, record)
        channel = (options % 4 >= 2 and key .. ':inbox:' or string.match(key, '^[^{]*') .. 'inbox:')
          .. string.format(string.rep('%02x', 16), string.byte(its_inbox, 1, 16))
        is_there = its_flags % 2 == 1
          and (its_inbox == asker or call('pubsub', options % 4 >= 2 and 'shardnumsub' or 'numsub', channel)[2] > 0)
      end
      local rows_at, at_row, his_number, his_flags, his_more, his_permits, his_rank, his_slot, his_after
      local w_ends, w_wall, w_digest, w_members, passed_over
      local wanted = read('>I4', member, 22)
      if is_there then
        part_at = part_at + its_about
        if its_flags >= 2 then part_at = part_at + 2 + read('<I2', record, part_at) end
        w_ends, w_wall, w_digest, w_members, passed_over, rows_at = read('<dddBB', record, part_at)
        at_row = rows_at
        while at_row <= #record do
          his_number, his_flags, his_more, his_permits, his_rank, his_slot, his_after = read(ROW, record, at_row)
          if his_number == wanted and his_flags % 16 < 4 then break end
          his_permits, at_row = nil, his_after + his_more
        end
      end
      -- The slots: above all that are held, or those that this call has freed, if no others are free.
      local slot
      if his_permits and his_permits <= limit - held and (his_flags == 1 or his_flags == 65) and its_members < 64 then
        if held == top then
          slot = top
        elseif free and not free[2] and held + his_permits == top then
          local _, low, high = read('>c1I8I8', free[1])
          if high - low + 1 == his_permits then slot = low end
        end
      end
      if slot then
        local margin = read('<d', record, his_after)
        fence = fence < now and now or fence + 1
        local mixed = (wanted * 69069 + read('>I3', heir, 10)) % 16777216
        mixed = mixed * (mixed * mixed % 16777216)
        its_digest = (its_digest + mixed) % 281474976710656
        if its_members == 0 then
          -- It has not been heard from since it last renewed its place, so its lease ends no later
          -- than the place would have (rule 8).
          its_ends, its_wall = clock + its_ttl, now + its_ttl
          if w_ends < its_ends then its_ends = w_ends end
          if w_wall < its_wall then its_wall = w_wall end
          local first_end = steady + math.min(its_ends - clock, its_wall - now)
          if first_end < its_listed then
            adds = adds or {}
            adds[#adds + 1], adds[#adds + 2] = '0', pack('>c1I8c16', 'e', first_end, heir)
            removes = removes or {}
            removes[#removes + 1] = pack('>c1I8c16', 'e', its_listed, heir)
            its_listed = first_end
            if first_end < due then due = first_end end
          end
        end
        if wanted > its_last then its_last = wanted end
        if clock + its_ttl > its_till then its_till = clock + its_ttl end
        if its_till > remembered then remembered = its_till end
        if margin < bound then bound = margin end
        local part = ''
        if w_members > 1 then
          part = pack('<dddBB', w_ends, w_wall, (w_digest - mixed) % 281474976710656, w_members - 1, passed_over)
        end
        record = pack(RECORD, its_inbox, its_ends, its_wall, its_ttl, its_last, its_till, its_digest,
          its_members + 1, its_listed, its_flags - (w_members > 1 and 0 or 1), its_about)
          .. sub(record, RECORD_SIZE + 1, part_at - 1) .. part .. sub(record, rows_at, at_row - 1)
          .. sub(record, his_after + his_more)
          .. pack(ROW, wanted, his_flags - 1, his_more - 9, his_permits, fence, slot)
          .. sub(record, his_after + 9, his_after + his_more - 1)
        if heir ~= first_id or texts and texts[heir] then
          texts = texts or {}
          texts[heir] = record
        else
          only = record
        end
        call('zrem', order, member)
        has_written, served, waiting, holders, held = true, served + 1, waiting - 1, holders + 1, held + his_permits
        notifications = notifications or {}
        notifications[#notifications + 1] = channel
        notifications[#notifications + 1] = sub(member, 10) .. 'g'
          .. pack('<dI4I2I4I4', fence, limit, 1, slot, slot + his_permits - 1) .. key
        front = waiting > 0 and call('zrangebylex', order, '[q', '(r', 'limit', '0', '1')[1] or nil
        if slot == top then top = top + his_permits else free = nil end
        if waiting == 0 or held >= limit then task = nil end
      elseif his_permits and his_permits <= limit and his_permits > limit - held then
        stands, task = true, nil
      else
        task = 'serve'
      end
      if not task and not reply then task = 'skip' end
    elseif task then
      -- Hands over to the functions, and takes the header back.
      local is_request = task ~= 'finish' and task ~= 'expire_and_grant'
      if not L then
        L = {
          key = key, order = order, now = now, steady = steady, asker = asker, guard = guard, shift = shift,
          version = VERSION, is_new = not head, is_sharded = options % 4 >= 2, is_moving = options % 8 >= 4,
          wall = wall, is_paused = flags % 2 == 1, is_named = false,
          arrival = arrival, records = {}, texts = texts or {}, known = {}, settings = settings or {}, kind = 0, uses = uses,
          limit = 0, held = 0, holders = 0, waiting = 0, top = 0, clock = clock, fence = 0, bound = 0, due = 0,
          deadline = deadline, remembered = 0, is_pinned = is_pinned, is_stated = false, progress = false,
          is_order_new = false, grows = true, add_rare = add_rare,
        }
        L.progress = L
        texts, settings = L.texts, L.settings
        if only then texts[first_id], only = only, nil end
        L.known[first_id] = text or false
        local scan = 26
        while scan < length do
          local other, its_size = read('<BI2', argument, scan)
          if other ~= 1 then L.grows = false end
          scan = scan + 3 + its_size
        end
        if not op then L.grows = false end
        add_ledger(L, RECORD, RECORD_SIZE, ROW, ROW_SIZE)
        if due <= steady then add_rare(L, 'expire') end
      end
      L.kind, L.limit, L.held, L.holders, L.waiting, L.top, L.fence, L.bound, L.due, L.remembered, L.noted, L.is_stated =
        kind, limit, held, holders, waiting, top, fence, bound, due, remembered, noted, is_stated
      L.is_order_new = L.is_order_new or is_order_new
      L.has_written = L.has_written or has_written
      if is_request and task ~= 'serve' then
        if not L.told then add_rare(L, 'acquire') end
        if task ~= 'look' and task ~= 'want' and not L.release then add_rare(L, 'general') end
      end
      if arrival > L.arrival then L.arrival = arrival end
      L.work, served = L.work - served, 0
      if notifications then L.earlier, notifications = notifications, nil end
      local ok, got = pcall(L.run, task, argument, at - 16, to, free, adds, removes)
      free, adds, removes = nil, nil, nil
      kind, limit, held, holders, waiting, top, fence, bound, due, remembered, noted, is_stated =
        L.kind, L.limit, L.held, L.holders, L.waiting, L.top, L.fence, L.bound, L.due, L.remembered, L.noted, L.is_stated
      arrival = L.arrival
      if not ok then
        refusal, is_over = L.refusal_of(got, L.has_written), true
      elseif task == 'finish' then
        start = got
      elseif is_request and task ~= 'serve' then
        reply = got
      end
      task, stands = nil, false
      if not reply and not is_over then task = 'skip' end
    else
      if not in_hand then
        -- Takes a record up: as it came with the header, as it was put away, as the functions have it, or
        -- from the server.
        local record, of_functions, tail_at
        earliest, in_hand, is_changed = 2 ^ 53, true, false
        if only and own == first_id then
          record, only, is_changed = only, nil, true
        elseif texts and texts[own] then
          record, texts[own], is_changed = texts[own], nil, true
        elseif L and L.records[own] ~= nil then
          of_functions, L.records[own] = L.records[own], nil
          if of_functions then record, is_changed = L.text_of(of_functions), of_functions.is_changed end
        elseif own == first_id then
          record = text
        else
          record = call('hget', key, own)
        end
        if record and #record < RECORD_SIZE then
          refusal, record = 'SEINPAALCORRUPT a record is too short', nil
        end
        inbox, ends, ends_wall, shared_ttl, last, till, digest, members, listed, record_flags, about_size,
          tail_at = read(RECORD, record or NEW_RECORD)
        tail, first_row = '', 1
        if record then
          tail, first_row = sub(record, tail_at), about_size + 1
          if record_flags > 0 then
            first_row = first_row + (record_flags >= 2 and 2 + read('<I2', tail, first_row) or 0)
              + (record_flags % 2 == 1 and 26 or 0)
          end
        end
      end

      -- A row that was added by the request before.
      if added ~= '' then tail, added = tail .. added, '' end
      if op == 1 then
        local number, its_kind, rule, wants, permits, asked, ttl, margin, not_after, most, priority,
          waiter_ttl, about_at = read('<I4BBBI4I4ddddbd', argument, at)
        if permits < 1 or permits > 1000000000 or not (ttl >= 100000 and ttl <= 86400000000 and margin >= 0
            and waiter_ttl >= 100000 and waiter_ttl <= 86400000000)
            or to - about_at > 4096 and wants == 0 then
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
          elseif not is_plain or wants > 0 or guard and guard(now) > 0
              or waiting > 0 and (held < limit and not stands or rule == 3 or in_force ~= limit) then
            task = 'want'
          else
            -- A limit that is set, or is the first one, stays stated even if this request is refused.
            if is_new and (rule == 3 or in_force ~= limit) then
              is_stated = true
              if is_pinned then
                settings = settings or {}
                settings.s = pack('<I4', asked)
              else
                limit = in_force
              end
            end
            local slot = top
            if permits > in_force - held or stands then
              slot = nil
              if most < 0 or waiting >= most then
                reply = pack('<BBI4I4I4', 3, most < 0 and 1 or 2, in_force, held, waiting)
              end
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
            if reply then
              -- Refused.
            elseif not slot and (held < in_force and not stands or #tail >= first_row and (inbox ~= asker
                or record_flags % 2 == 1) or priority > 100 or priority < -100
                or front and 1000000000 + math.max(arrival + 1, clock) - priority * 10000000 <= read('>I8', front, 2)) then
              -- There are slots in several pieces, waiters that cannot be reached may stand before it, it is
              -- refused, or it may come first.
              task = 'want'
            else
              kind = its_kind
              if not is_pinned then
                is_stated, limit = true, in_force
              elseif is_new then
                is_stated, settings = true, settings or {}
                settings.s = pack('<I4', asked)
              end
              local about, shared, more, row_flags = sub(argument, about_at, to), sub(tail, 1, about_size), '', 0
              if #tail < first_row then
                -- No ticket stands here, so this one says what all of them share.
                inbox, shared_ttl = asker, ttl
                if about ~= shared then
                  tail, first_row = about .. sub(tail, about_size + 1), first_row + #about - about_size
                  about_size, shared = #about, about
                end
              elseif inbox ~= asker then
                refusal = 'SEINPAALARGUMENT the series is another client\'s'
              elseif slot and members >= 64 then
                refusal = 'SEINPAALARGUMENT a lease has at most 64 tickets'
              end
              if ttl ~= shared_ttl then row_flags, more = 32, pack('<d', ttl) end
              if about == shared then about = '' else row_flags = row_flags + 64 end
              local mixed = (number * 69069 + read('>I3', own, 10)) % 16777216
              mixed, is_changed = mixed * (mixed * mixed % 16777216), true
              if slot then
                if members == 0 then
                  ends, ends_wall = clock + ttl, now + ttl
                  if steady + ttl < earliest then earliest = steady + ttl end
                end
                held, holders = held + permits, holders + 1
                fence = fence < now and now or fence + 1
                members, digest, last = members + 1, (digest + mixed) % 281474976710656, number
                if clock + ttl > till then till = clock + ttl end
                if till > remembered then remembered = till end
                more = more .. about
                added = pack(ROW, number, row_flags, #more, permits, fence, slot) .. more
                reply = pack('<BdI4dI2I4I4I2', 1, fence, limit, ends > clock and ends - clock or 0, 1, slot,
                  slot + permits - 1, 0)
              else
                -- It waits, under a lease of the series' waiters, which is new. Its rank is its arrival, earlier
                -- by ten seconds for each step of priority.
                arrival = arrival < clock and clock or arrival + 1
                local rank = arrival - priority * 10000000
                more = more .. pack('<db', margin, priority) .. about
                tail = sub(tail, 1, first_row - 1) .. pack('<dddBB', clock + waiter_ttl, now + waiter_ttl,
                  mixed % 281474976710656, 1, 0) .. sub(tail, first_row)
                added = pack(ROW, number, row_flags + 1, #more, permits, rank, 0) .. more
                record_flags, first_row = record_flags + 1, first_row + 26
                if margin > waiter_ttl / 2 then margin = math.floor(waiter_ttl / 2) end
                if steady + waiter_ttl < earliest then earliest = steady + waiter_ttl end
                mine = pack('>c1I8c12I4', 'q', rank + 1000000000, own, number)
                adds = adds or {}
                adds[#adds + 1], adds[#adds + 2] = '0', mine
                front, waiting = front or mine, waiting + 1
                reply = pack('<BI4I4', 2, waiting, limit)
              end
              if margin < bound then bound = margin end
            end
          end
        end
      elseif op == 2 or op == 4 then
        -- Release or prove one ticket. Anything unusual about it is left to the functions.
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
          else
            ends, ends_wall, is_changed, grows = clock + ttl, now + ttl, true, false
            if margin < bound then bound = margin end
            if steady + ttl < earliest then earliest = steady + ttl end
            reply = pack('<BdI2BdI2I4I4I2', 13, ttl, 1, 1, its_fence, 1, slot, slot + permits - 1, 0)
          end
        elseif to > at + 3 then
          task = 'release' -- of some slots
        else
          local second = math.floor(now / 1000000) % 256
          if second ~= noted then
            noted, settings = second, settings or {}
            settings.r = with_length(call('hget', key, 'r'), now - its_fence)
          end
          tail = after + more > #tail and sub(tail, 1, row - 1) or sub(tail, 1, row - 1) .. sub(tail, after + more)
          local mixed = (number * 69069 + read('>I3', own, 10)) % 16777216
          members, digest = members - 1, (digest - mixed * (mixed * mixed % 16777216)) % 281474976710656
          if clock + shared_ttl > till then till = clock + shared_ttl end
          if till > remembered then remembered = till end
          if members == 0 and steady + till - clock < earliest then earliest = steady + till - clock end
          is_changed, grows, holders = true, false, holders - 1
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
          reply = '\14\0\0\0\0'
          if waiting > 0 then task = 'serve_first' end
        end
      elseif op == 3 then
        -- Renew all tickets of a lease, if client and server agree on which these are.
        local of_waiters, ttl, margin, its_members, its_digest = read('<BddI4d', argument, at)
        if not (ttl >= 100000 and ttl <= 86400000000 and margin >= 0) then
          refusal = 'SEINPAALARGUMENT a renewal'
        elseif of_waiters > 0 and record_flags % 2 == 0 then
          reply = '\12'
        elseif of_waiters > 0 and mine then
          task = 'renew_waiters'
        elseif of_waiters > 0 then
          local _, _, w_digest, w_members, passed_over = read('<dddBB', tail, first_row - 26)
          if w_members ~= its_members or w_digest ~= its_digest or passed_over > 0 or inbox ~= asker then
            reply = '\11'
          else
            tail = sub(tail, 1, first_row - 27) .. pack('<dddBB', clock + ttl, now + ttl, w_digest, w_members, 0)
              .. sub(tail, first_row)
            is_changed, grows = true, false
            if margin < bound then bound = margin end
            if steady + ttl < earliest then earliest = steady + ttl end
            -- The answer has the position of the waiter with the lowest number.
            local row, rank, number = first_row, nil, nil
            while row <= #tail do
              local its_number, row_flags, more, _, its_rank, _, after = read(ROW, tail, row)
              if row_flags % 2 == 1 and (not rank or its_number < number) then rank, number = its_rank, its_number end
              row = after + more
            end
            local before = '(' .. pack('>c1I8c12I4', 'q', rank + 1000000000, own, number)
            reply = pack('<BdI2I4', 19, ttl, 0, call('zlexcount', order, '[q', before) + 1)
          end
        elseif members == 0 then
          reply = '\12'
        elseif members ~= its_members or digest ~= its_digest or inbox ~= asker then
          reply = '\11'
        else
          ends, ends_wall, is_changed, grows = clock + ttl, now + ttl, true, false
          if margin < bound then bound = margin end
          if steady + ttl < earliest then earliest = steady + ttl end
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
      if reply then replies, reply = replies == '' and reply or replies .. reply, nil end
      if to >= length then
        is_over = true
      else
        op, size, next_id, at = read('<BI2c16', argument, to + 1)
        to = to + 3 + size
        if to > length then refusal = 'SEINPAALARGUMENT a request is cut off' end
      end
    end

    -- Puts the record away, if the next step is about another one.
    if in_hand and (is_over or task or next_id ~= own) then
      if earliest < listed or listed == 0 and earliest < 2 ^ 53 then
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
          record_flags, about_size) .. tail .. added
        added = ''
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
    if is_over and not start and not task and not refusal then
      if L or held + waiting == 0 and not only and not texts then
        task = 'finish'
      elseif front and sub(front, 10, 17) == sub(asker, 1, 8) then
        -- The first waiter is the sender's own, since all series of a session begin like its inbox. The sender
        -- looks again when the first lease can end.
        look = bound < 1 and 1 or bound
        if due - steady < bound or guard then task = 'finish' end
      end
    end
  until is_over and not task

  local answer = start
  if refusal then
    answer = refusal == '' and '' or redis.error_reply(refusal)
  elseif start then
    answer = start .. replies
  else
    -- Writes the header, and the records that were changed.
    local is_idle, expires = held + waiting == 0, nil
    if is_idle then
      bound, is_stated = 2 ^ 53, false
      if not is_pinned then kind, limit = 0, 1 end
    end
    -- The keys outlive every lease by half a day; see expiry in ledger.lua. Names that are used often pass here.
    local left = deadline - now
    if (left < 129600000000 or is_idle and uses < 16) and is_plain and not is_pinned then
      local need, most = 129600000000, 2 ^ 53
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
    end
    flags = flags % 4
    if is_stated then flags = flags + 4 end
    -- In a cluster a new name is at home where it is made.
    if options % 4 >= 2 and not head then
      settings = settings or {}
      settings.m = call('cluster', 'myid') .. ' 0'
    end
    head = pack(HEAD, VERSION, kind, flags, uses, limit, held, holders, waiting, top, clock, now, fence, bound,
      due, deadline, remembered, noted)
    if waiting > 0 or shift > 0 or arrival >= clock then
      head = head .. pack('<dd', shift, arrival) .. (waiting > 0 and (front or '-') or '')
    end

    local refused
    local fields = only and not texts and not settings or { 'h', head }
    if fields == true then
      refused = redis.pcall('hset', key, 'h', head, first_id, only)
    else
      if only then fields[3], fields[4] = first_id, only end
      for id, record in pairs(texts or {}) do
        fields[#fields + 1] = id
        fields[#fields + 1] = record
      end
      for field, value in pairs(settings or {}) do
        fields[#fields + 1] = field
        fields[#fields + 1] = value
      end
      refused = redis.pcall('hset', key, (unpack or table.unpack)(fields))
    end
    -- A server without free memory refuses the first write. If the call does more than grow the name, that
    -- has to succeed: after a removal, Redis lets every write of a script pass.
    if type(refused) == 'table' then
      if not grows and not has_written then
        call('hdel', key, '-')
        if fields == true then fields = { 'h', head, first_id, only } end
        refused = redis.pcall('hset', key, (unpack or table.unpack)(fields))
      end
      if type(refused) == 'table' then
        refusal = string.find(refused.err, 'OOM', 1, true) and 'SEINPAALOOM the server has no memory left'
          or (string.gsub(refused.err, '^%-', ''))
      end
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
      if notifications then
        local publish = options % 4 >= 2 and 'spublish' or 'publish'
        for i = 1, #notifications, 2 do redis.pcall(publish, notifications[i], notifications[i + 1]) end
      end
      answer = pack('<dd', now, look) .. replies
    end
  end
  if names == 1 then return answer end
  answers = answers or {}
  answers[name] = answer
end
return answers
