-- plain: what goes on all the time, done straight on: batches of acquire, release and renew at a name in a plain state.
-- keys   records order
-- args   those of acquire, release and renew
-- reply  granted queued released renewed tickets
-- cost   one HMGET and one HSET; to stand in line one HMGET and one ZADD more; to hand over one ZRANGEBYLEX, HMGET,
--        HGET, PUBSUB, HDEL, ZREM and PUBLISH more
--
-- It makes no function. Whatever is not plain breaks out of the block before anything is written, and the rest of the
-- script begins anew, with functions. Plain is: nothing has run out, the name is not paused, nobody waits who could
-- be served, and a request is about a ticket that stands, or is to stand, under the lease with its series' number.
-- A record is read into locals. When a request is about another one, what was changed goes into `saved`.

repeat
  local inbox, seen, first = asker ~= '' and asker or NOBODY, match(fence_seen, '^%d+$'), ARGV[4]
  if not first or #ARGV > 67 or guarded_for > 0 or not now or not seen or seen + 0 > MOST_FENCE_SEEN then break end
  local field = string.byte(first, 3) == 110 and 'r' .. sub(first, 7, 38) or 'r' .. sub(first, 9, 32) .. '00000000'
  local found = try('hmget', records, 'h', field)
  if found.err then break end

  -- The head.
  local text, record = found[1], found[2]
  local version, kind, flags, stated, pinned, clock, wall, passed, bound, fence, due, deadline, memory, longest, arrival,
    held, holders, waiting, past, top, rows, ranges
  if text then
    if #text < HEAD_SIZE then break end
    version, kind, flags, stated, pinned, clock, wall, passed, bound, fence, due, deadline, memory, longest, arrival,
      held, holders, waiting, past, top, rows, ranges = read(HEAD, text)
    if version ~= VERSION or flags % 2 == 1 or #text ~= HEAD_SIZE + 8 * ranges or (pinned >= 0 and deadline > 0) then break end
  else
    if record or try('exists', records, order) ~= 0 then break end
    kind, flags, stated, pinned, clock, wall, passed, bound, fence, due, deadline, memory, longest, arrival,
      held, holders, waiting, past, top, rows, ranges = '-', 0, -1, -1, 0, 0, 0, UNBOUNDED, 0, UNBOUNDED, 0, 0, 0, 0,
      0, 0, 0, 0, 0, 0, 0
  end
  local step = max(now - wall, 0)
  clock, passed, fence = clock + min(step, bound), passed + step, max(fence, seen + 0)
  if passed >= due then break end
  local limit = pinned >= 0 and pinned or stated >= 0 and stated or 1
  if waiting > 0 and held < limit then break end
  local free, is_wide, is_spread = ranges > 0 and sub(text, HEAD_SIZE + 1) or '', flags % 4 >= 2, flags >= 4
  local had_order = waiting > 0 or flags > 0

  -- The record, and what is to be done besides writing it and the head.
  local what, last, till, open, lease_ttl, ends, ends_wall, members, digest, parked, by, listed, size
  local causes, tickets, is_there, is_changed, is_read
  local saved, set, del, add, remove, messages
  -- Who is first in line, if that is known: false for nobody; and who is to be handed what was released.
  local front, front_inbox, has_queued, heir, heir_text, replies = nil, nil, false, nil, nil, {}
  local is_growth, i, at = true, 4, nil

  while i <= #ARGV do
    local line, reply, want, ticket, permits, ttl, margin, about, slot, number = ARGV[i], nil, nil, nil, nil, nil, nil, nil, nil, nil
    local asked_kind, rule, asked_limit, most, priority, place_ttl, not_after, is_own, whom
    local is_granted, is_done = false, false
    local operation = heir and 0 or string.byte(line, 3)
    repeat
      -- Which record it is about.
      if operation == 0 then
        want = 'r' .. sub(heir, 1, 24) .. '00000000'
      elseif operation == 113 then -- acquire
        if #line < ASK_SIZE + 64 then break end
        ticket, number, is_own, asked_kind, permits, rule, asked_limit, ttl, margin, not_after, most, priority, place_ttl, at = read(ASK, line, 9)
        if is_own ~= 1 or now > not_after then break end
        want = i == 4 and field or 'r' .. sub(ticket, 1, 24) .. '00000000'
      elseif operation == 108 then -- release
        if #line ~= 44 or sub(line, 41) ~= ' all' then break end
        ticket = sub(line, 9, 40)
        want = i == 4 and field or 'r' .. sub(ticket, 1, 24) .. '00000000'
      else
        want, ttl, margin, whom = match(line, '^renew ([0-9a-f]+) (%d+) (%d+) (%l+ .*)$')
        if not want or #want ~= 32 then break end
        want = 'r' .. want
      end
      if want ~= field or not is_read then
        if want ~= field then
          if is_changed then
            saved = saved or {}
            saved[field] = pack(RECORD, what, last, till, open, lease_ttl, ends, ends_wall, members, digest, parked, by, listed, #causes)
              .. causes .. tickets
          end
          field, is_changed, record = want, false, saved and saved[want]
          if record == false then break end
          if record == nil then
            if operation == 0 then record = heir_text[2] else record = try('hget', records, want) end
          end
        end
        is_read = true
        if record then
          if type(record) == 'table' or #record < RECORD_SIZE then break end
          what, last, till, open, lease_ttl, ends, ends_wall, members, digest, parked, by, listed, size = read(RECORD, record)
          causes, tickets, is_there = '', '', true
          if #record > RECORD_SIZE then
            causes, tickets = sub(record, RECORD_SIZE + 1, RECORD_SIZE + size), sub(record, RECORD_SIZE + size + 1)
          end
        else
          what, last, till, open, lease_ttl, ends, ends_wall, members, digest, parked, by, listed, size = 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            NOBODY, 0, 0
          causes, tickets, is_there = '', '', false
        end
      end

      if operation == 113 then
        if permits < 1 or permits > MOST_PERMITS or asked_limit > MOST_PERMITS or #line > ASK_SIZE + 319 then break end
        if ttl < MIN_TTL or ttl > MAX_TTL or place_ttl < MIN_TTL or place_ttl > MAX_TTL then break end
        if margin > UNBOUNDED or priority < -100 or priority > 100 or number <= last then break end
        about = sub(line, at + 64)
        if by ~= inbox and (what >= 2 or match(inbox, '[^-0-9a-f]') or #inbox ~= 32) then break end
        if holders + waiting == 0 then
          stated = -1
          if pinned < 0 then kind = '-' end
        end
        if kind ~= '-' and kind ~= asked_kind then break end
        -- The limit to go by, and what is stated from now on. Where something is to be refused or set, nothing is plain.
        limit = pinned >= 0 and pinned or stated >= 0 and stated or 1
        local going = (rule == '-' or pinned >= 0 or stated >= 0) and limit or asked_limit
        if (rule == 'R' and pinned < 0 or rule == 'E') and going ~= asked_limit then break end
        if (rule == 'S' and stated >= 0 and stated ~= asked_limit) or permits > going then break end
        if stated < 0 then stated = rule ~= '-' and asked_limit or (pinned < 0 and going or -1) end
        kind, limit = asked_kind, going
        if permits <= going - held then
          if waiting > 0 then break end
          if top == held or held == 0 then
            if is_spread then break end
            slot, top, free = held, held + permits, ''
          elseif is_spread then
            local member = try('zrangebylex', order, '[f', '(g', 'limit', '0', '1')[1]
            if not member or #member ~= 17 or (remove and #remove > 0) or (add and #add > 0) then break end
            local _, lowest, highest = read(FREE, member)
            if lowest + permits - 1 > highest then break end
            slot, remove = lowest, { member }
            if lowest + permits <= highest then add = { '0', pack(FREE, 'f', lowest + permits, highest) } end
          else
            local lowest, highest = read('<I4I4', free)
            if lowest + permits - 1 > highest then break end
            slot, free = lowest, sub(free, 9)
            if lowest + permits <= highest then free = pack('<I4I4', lowest + permits, highest) .. free end
          end
          held, holders, is_granted = held + permits, holders + 1, true
        else
          -- In line, under the lease of the place, which that renews.
          local place, most_waiting = sub(line, at + 32, at + 63), most == UNBOUNDED and most or min(most, MOST_WAITING)
          if held < going or waiting >= most_waiting or most > most_waiting or match(place, '[^0-9a-f]') then break end
          local place_field = 'r' .. place
          if has_queued or place_field == field or (saved and saved[place_field] ~= nil) or #inbox ~= 32 or match(inbox, '[^-0-9a-f]') then break end
          local there = try('hmget', records, 't' .. ticket, place_field)
          if there.err or there[1] then break end
          local place_record, place_listed, known, sum, aside, owner, term = there[2], 0, 0, 0, 0, inbox, place_ttl
          if place_record then
            local kinds, _
            if #place_record ~= RECORD_SIZE then break end
            kinds, _, _, _, term, _, _, known, sum, aside, owner, place_listed = read(RECORD, place_record)
            if kinds ~= 2 then break end
          else
            rows = rows + 1
          end
          set, add, rows, waiting, arrival = set or {}, add or {}, rows + 1, waiting + 1, max(arrival + 1, clock)
          if rows > MOST_ROWS and not is_wide then break end
          local place_due, rank = floor(passed + place_ttl), arrival - priority * 10000000
          due, longest = min(due, place_due), max(longest, term, ttl)
          at = #add
          if is_wide then
            add[at + 1], add[at + 2], at = '0', 'm' .. place .. ticket, at + 2
            if place_listed == 0 then
              place_listed, add[at + 1], add[at + 2], at = place_due, '0', pack(MEMBER, 'e', place_due, place), at + 2
            elseif place_due < place_listed then
              break
            end
          end
          local member = pack(MEMBER, 'q', rank + RANK_BIAS, ticket)
          add[at + 1], add[at + 2], at = '0', member, #set
          saved = saved or {}
          saved[place_field] = pack(RECORD, 2, 0, 0, 0, term, clock + place_ttl, now + place_ttl, known + 1,
            (sum + digest_of(ticket)) % DIGESTS, aside, owner, place_listed, 0)
          set[at + 1], set[at + 2] = 't' .. ticket, pack(WAITER, 'W', '0', place, inbox, permits, ttl, now, rank, priority, margin, sub(field, 2)) .. about
          if front == nil and waiting > 1 and inbox ~= NOBODY then
            front = try('zrangebylex', order, '[q', '(r', 'limit', '0', '1')[1]
            local entry = front and front < member and try('hget', records, 't' .. sub(front, 10))
            if entry and type(entry) ~= 'string' then break end
            front_inbox = entry and sub(entry, 35, 66)
          end
          if not front or member < front then front, front_inbox = member, inbox end
          has_queued = true
          margin = min(margin, floor(place_ttl / 2))
          reply = format('queued %s %d %d', ticket, waiting, going)
        end
        bound = min(bound, margin)

      elseif operation == 108 then
        local keeper, old_fence = by, nil
        number, at = tonumber(sub(ticket, 25), 16), 1
        if not number then break end
        while at <= #tickets do
          local held_number, its_permits, its_ttl, _, its_fence, its_slot, its_size = read(TICKET, tickets, at)
          if held_number == number then
            permits, ttl, old_fence, slot = its_permits, its_ttl, its_fence, its_slot
            tickets = at == 1 and #tickets == TICKET_SIZE + its_size and '' or sub(tickets, 1, at - 1) .. sub(tickets, at + TICKET_SIZE + its_size)
            break
          end
          at = at + TICKET_SIZE + its_size
        end
        if not slot then
          local kept = what == 3 and not (set and #set > 0) and try('hget', records, 't' .. ticket)
          if type(kept) ~= 'string' or sub(kept, 1, 1) ~= 'H' then break end
          local is_whole, under, slots, _
          is_whole, _, _, under, keeper, permits, ttl, _, old_fence, slots = pcall(read, HOLDER, kept)
          local from = match(is_whole and slots or '', '^(%d+)%-?%d*$')
          if not from or under ~= sub(field, 2) then break end
          slot, del, rows = from + 0, del or {}, rows - 1
          del[#del + 1] = 't' .. ticket
          if is_wide then
            remove = remove or {}
            remove[#remove + 1] = 'm' .. sub(field, 2) .. ticket
          end
        end
        -- What another keeps is not ours to give back, or its keeper is to be told.
        if keeper ~= inbox or what < 3 or open < 1 then break end
        if is_wide then
          remove = remove or {}
          remove[#remove + 1] = pack(MEMBER, 'g', old_fence, ticket)
        end
        members, digest, open, till = members - 1, (digest - digest_of(ticket, number)) % DIGESTS, open - 1, max(till, clock + ttl)
        if members == 0 then what, lease_ttl, ends, ends_wall, digest, by = 1, 0, 0, 0, 0, NOBODY end
        memory, is_growth, reply = max(memory, till), false, 'released ' .. ticket .. ' 0'
        if waiting == 0 then
          holders, held = holders - 1, held - permits
          if held == 0 then
            if is_spread then break end
            top, free = 0, ''
          elseif slot + permits == top then
            top = slot
          elseif is_spread then
            add = add or {}
            add[#add + 1] = '0'
            add[#add + 1] = pack(FREE, 'f', slot, slot + permits - 1)
          else
            at = 1
            while at < #free and read('<I4', free, at) < slot do at = at + 8 end
            free = sub(free, 1, at - 1) .. pack('<I4I4', slot, slot + permits - 1) .. sub(free, at)
            if #free > 8 * MOST_FREE then break end
          end
        else
          -- Who is next takes just what is given back, and nothing else is free.
          if held ~= limit or top ~= held or front ~= nil then break end
          local line_up = try('zrangebylex', order, '[q', '(r', 'limit', '0', '2')
          heir = line_up[1] and sub(line_up[1], 10)
          if not heir then break end
          front = line_up[2] or false
          local names = { 't' .. heir, 'r' .. sub(heir, 1, 24) .. '00000000', front and inbox ~= NOBODY and 't' .. sub(front, 10) or nil }
          heir_text = try('hmget', records, unpack(names))
          local kept = heir_text[1]
          if type(kept) ~= 'string' or #kept < 146 or sub(kept, 1, 1) ~= 'W' then break end
          front_inbox = heir_text[3] and sub(heir_text[3], 35, 66)
          remove = remove or {}
          remove[#remove + 1] = line_up[1]
          if held == permits then slot, top = 0, permits end
          heir_text.permits, heir_text.slot, heir_text.reply = permits, slot, reply -- for the next round
        end

      elseif operation == 110 then
        local count, sum = match(whom, '^all (%d+) (%d+)$')
        ttl, margin = ttl + 0, margin + 0
        if what < 2 or by ~= inbox or ttl < MIN_TTL or ttl > MAX_TTL or margin > UNBOUNDED then break end
        if count then
          if members ~= count + 0 or digest ~= sum + 0 or parked ~= 0 then break end
          reply = format('renewed %d', ttl)
        else
          -- Some of the tickets in the record.
          local series, told = sub(want, 2, 25), format('tickets %d', ttl)
          if sub(want, 26) ~= '00000000' or #whom > 1024 or not match(whom, '^tickets [0-9a-f]') then break end
          for named in string.gmatch(sub(whom, 9), '%S+') do
            local is_found = false
            number, at = #named == 32 and sub(named, 1, 24) == series and tonumber(sub(named, 25), 16), 1
            while number and at <= #tickets do
              local held_number, its_permits, _, _, its_fence, its_slot, its_size = read(TICKET, tickets, at)
              if held_number == number then
                is_found, told = true, told .. (its_permits == 1 and format(' held:%d:%d', its_fence, its_slot)
                  or format(' held:%d:%d-%d', its_fence, its_slot, its_slot + its_permits - 1))
              end
              at = at + TICKET_SIZE + its_size
            end
            if not is_found then
              told = nil
              break
            end
          end
          if not told then break end
          reply = told
        end
        lease_ttl, ends, ends_wall, is_growth = ttl, clock + ttl, now + ttl, false
        longest, bound = max(longest, ttl), min(bound, margin)

      elseif operation == 0 then
        local _, its_place, to, wanted, term, next_lease
        ticket, permits, slot = heir, heir_text.permits, heir_text.slot
        _, _, its_place, to, wanted, term, _, _, _, margin, next_lease, at = read(WAITER, heir_text[1])
        if wanted ~= permits or 'r' .. next_lease ~= field or 'r' .. its_place == field or (saved and saved['r' .. its_place] ~= nil) then break end
        if what >= 2 and by ~= to then break end
        local there = try('hget', records, 'r' .. its_place)
        if type(there) ~= 'string' or #there ~= RECORD_SIZE then break end
        local kinds, place_term, place_ends, place_ends_wall, known, sum, aside, owner, place_listed
        kinds, _, _, _, place_term, place_ends, place_ends_wall, known, sum, aside, owner, place_listed = read(RECORD, there)
        if kinds ~= 2 then break end
        if to ~= NOBODY then
          local channel = match(records, BEFORE_INBOX) .. INBOX .. to
          local listeners = (to == asker or not LISTENERS) and 1 or try('pubsub', LISTENERS, channel)[2]
          if not listeners or listeners == 0 then break end
          messages = messages or {}
          messages[#messages + 1] = channel
        end
        if is_wide then remove[#remove + 1] = 'm' .. its_place .. heir end
        saved, del = saved or {}, del or {}
        if known == 1 then
          rows, saved['r' .. its_place] = rows - 1, false
          del[#del + 1] = 'r' .. its_place
          if place_listed > 0 then remove[#remove + 1] = pack(MEMBER, 'e', place_listed, its_place) end
        else
          saved['r' .. its_place] = pack(RECORD, 2, 0, 0, 0, place_term, place_ends, place_ends_wall, known - 1,
            (sum - digest_of(heir)) % DIGESTS, aside, owner, place_listed, 0)
        end
        del[#del + 1], rows, waiting = 't' .. heir, rows - 1, waiting - 1
        -- A lease made for it ends no later than its place would have.
        ttl, about, number, bound = term, sub(heir_text[1], at), tonumber(sub(heir, 25), 16), min(bound, margin)
        if #about > 255 then break end
        if what < 2 then
          by, lease_ttl, members, digest, parked = to, term, 0, 0, 0
          ends, ends_wall, what = min(clock + term, place_ends), min(now + term, place_ends_wall), what + 2
        end
        is_granted, reply, heir = true, heir_text.reply, nil
      end

      -- A grant, at once or from the line.
      if is_granted then
        fence = max(fence + 1, now)
        if what < 2 then
          by, lease_ttl, ends, ends_wall, members, digest, parked, what = inbox, ttl, clock + ttl, now + ttl, 0, 0, 0, what + 2
        end
        if what == 2 then past, what = past + 1, 3 end
        if past > MOST_MEMORIES then break end
        last, till, open = max(last, number), max(till, clock + ttl), open + 1
        members, digest = members + 1, (digest + digest_of(ticket, number)) % DIGESTS
        memory, longest = max(memory, till), max(longest, lease_ttl)
        local slots = permits == 1 and format('%d', slot) or format('%d-%d', slot, slot + permits - 1)
        if #tickets + #about + TICKET_SIZE <= MOST_INLINE then
          tickets = tickets .. pack(TICKET, number, permits, ttl, now, fence, slot, #about) .. about
        else
          if operation == 0 then break end
          set, rows = set or {}, rows + 1
          set[#set + 1] = 't' .. ticket
          set[#set + 1] = pack(HOLDER, 'H', '0', sub(field, 2), by, permits, ttl, now, fence, slots) .. about
          if is_wide then
            add = add or {}
            add[#add + 1] = '0'
            add[#add + 1] = 'm' .. sub(field, 2) .. ticket
          end
        end
        if is_wide then
          add = add or {}
          add[#add + 1] = '0'
          add[#add + 1] = pack(MEMBER, 'g', fence, ticket)
        end
        if operation == 0 then
          if by ~= NOBODY then messages[#messages + 1] = format('granted %s %d %s %d ', ticket, fence, slots, limit) .. records end
        else
          reply = format('granted %s %d %s %d %d', ticket, fence, slots, limit, max(ends - clock, 0))
        end
      end

      -- The record, but for one that is only asked about, in line.
      if operation ~= 113 or is_granted then
        if not is_there then rows, is_there = rows + 1, true end
        if rows > MOST_ROWS and not is_wide then break end
        local left = what >= 2 and min(ends - clock, ends_wall - now) or UNBOUNDED
        if open == 0 and what % 2 == 1 then left = min(left, till - clock) end
        is_changed = true
        if left < UNBOUNDED then
          local ending = max(floor(passed + left), 0)
          due = min(due, ending)
          if is_wide and (listed == 0 or ending < listed) then
            add = add or {}
            if listed > 0 then
              remove = remove or {}
              remove[#remove + 1] = pack(MEMBER, 'e', listed, sub(field, 2))
            end
            listed = ending
            add[#add + 1] = '0'
            add[#add + 1] = pack(MEMBER, 'e', ending, sub(field, 2))
          end
        end
      end
      is_done = true
    until true
    if not is_done then break end
    if not heir then
      replies[#replies + 1] = reply
      i = i + 1
    end
  end
  if i <= #ARGV then break end

  -- Nobody is here: the clock may run freely, and nobody's terms stay.
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
  set = set or {}
  at = #set
  set[at + 1], set[at + 2] = 'h', pack(HEAD, VERSION, kind, flags, stated, pinned, clock, now, passed, bound, fence, due, deadline,
    memory, longest, arrival, held, holders, waiting, past, top, rows, #free / 8) .. free
  if is_changed then
    set[at + 3], set[at + 4] = field, pack(RECORD, what, last, till, open, lease_ttl, ends, ends_wall, members, digest, parked,
      by, listed, #causes) .. causes .. tickets
  end
  if saved then
    for other, kept in pairs(saved) do
      if kept and (other ~= field or not is_changed) then
        set[#set + 1] = other
        set[#set + 1] = kept
      end
    end
  end
  if not text and SETTLING then
    set[#set + 1] = 'n'
    set[#set + 1] = call('cluster', 'myid') .. ' 0'
  end

  -- The first write may be refused, and then the rest of the script says so; for want of memory only if it does nothing
  -- but grow, since after a removal Redis lets any write pass. After it there is no way back.
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
  if deadline > 0 and (waiting > 0 or flags > 0) and (milliseconds or not had_order) then
    try('pexpire', order, milliseconds or format('%d', max(floor((deadline - now) / 1000), 1)))
  end
  -- A wakeup is a hint: where it may not be published, whoever waits looks again in time.
  for k = 1, messages and #messages or 0, 2 do try(PUBLISH, messages[k], messages[k + 1]) end
  if refused then return redis.error_reply('SEINPAALTORN ' .. string.gsub(refused.err, '[\r\n]', ' ')) end
  return { format('done %d 0 ', now) .. look_in, unpack(replies) }
until true
