-- lean_line: what goes on at a small name with a short line (LINE), done with one read and one write.
-- keys   records order
-- args   as lean has them
-- reply  now; or now, fence, slot and valid_for of the only request; or done, and an answer a request
-- cost   one TIME, one HGET, one HSET; to hand over one PUBSUB and one PUBLISH more; PEXPIRE if the end is too near
--
-- A string is hashed by all of its bytes when it is made, so no row is made one before it changes. Whatever is not as simple
-- breaks out before anything is written.

  repeat
    local text = head_text
    if type(text) ~= 'string' or byte(text) ~= LINE_VERSION or #text < LINE_SIZE or guard == 'begun' then break end
    local _, count, in_line, ranges, kind, uses, clock, wall, bound, fence, due, deadline, longest, arrival, limit, held, holders,
      top = read(LINE, text)
    local PACK_LINE, PACK_RECORD, PACK_WAITER = LINE .. 'c0', RECORD .. 'c0c0', WAITER .. 'c0'
    local format = string.format
    local line = ARGV[1]
    if #line < RELEASE_AT then break end
    -- Of each row its id, where its text begins, and in kept its text if that is another now. A row moves only with its text
    -- in kept, so that those without are still where they were.
    local ids, starts, kept, at = {}, {}, {}, LINE_SIZE + 8 * ranges + 1
    for k = 1, count + in_line do
      if at + LINE_STEP > #text then break end
      local id, size = read('<c32I2', text, at)
      if size < (k <= count and RECORD_SIZE or 146) then break end
      ids[k], starts[k] = id, at + LINE_STEP
      at = at + LINE_STEP + size
    end
    if at ~= #text + 1 or #ids ~= count + in_line then break end
    starts[#ids + 1] = at + LINE_STEP
    local free = sub(text, LINE_SIZE + 1, LINE_SIZE + 8 * ranges)

    local given, seen, asker = read('<ddc32', line, 2)
    local now = given
    if now < 0 then
      local time = redis.call('time')
      now = time[1] * 1000000 + time[2]
      read_now = now
    end
    local step = now - wall
    if step < 0 or not (seen <= MOST_FENCE_SEEN) then break end
    clock = clock + (step < bound and step or bound)
    if seen > fence then fence = seen end
    if now >= due then
      -- It is only a bound.
      local left = UNBOUNDED
      for k = 1, count do
        local what, _, till, open, _, ends, ends_wall = read(RECORD, text, starts[k])
        if what >= 2 and ends - clock < left then left = ends - clock end
        if what >= 2 and ends_wall - now < left then left = ends_wall - now end
        if what ~= 2 and open == 0 and till - clock < left then left = till - clock end
      end
      if left <= 0 then break end
      due = now + left
    end

    local i, replies, said, told, channel, message, id, is_growth = 1, nil, nil, now, nil, nil, nil, true
    while line do
      local operation, is_done, reply, who, number, mixed, permits, asked_limit, asked_kind, ttl, margin, not_after = byte(line), false
      repeat
        if operation == 1 then
          if #line < ABOUT_AT - 1 or #line > ABOUT_AT + 254 then break end
          _, _, who, number, mixed, permits, asked_limit, asked_kind, ttl, margin, not_after = read(PLAIN_ACQUIRE, line, 2)
        elseif operation == 2 and #line >= RELEASE_AT then
          _, _, who, number, mixed = read(PLAIN_RELEASE, line, 2)
        elseif operation == 3 and #line >= RENEW_AT + 38 then
          _, _, who, ttl, margin, number, mixed = read(PLAIN_RENEW, line, 2)
        elseif operation == 4 and #line >= PROOF_AT then
          _, _, who, number, mixed, ttl, margin = read(PLAIN_PROOF, line, 2)
        else
          break
        end
        if ttl and not (ttl >= MIN_TTL and ttl <= MAX_TTL and margin <= UNBOUNDED) then break end

        -- The record that it is about.
        id = operation == 3 and sub(line, RENEW_AT + 6, RENEW_AT + 37) or sub(who, 33) .. '00000000'
        local which, from, after, source = 1, nil, nil, nil
        while which <= count and ids[which] ~= id do which = which + 1 end
        local what, last, till, open, term, ends, ends_wall, members, digest, parked, by, listed, causes, tickets = 0, 0, 0, 0, 0, 0, 0,
          0, 0, 0, NOBODY, 0, 0, ''
        local slot, slots, its_fence, ticket, about
        if which <= count then
          source = kept[which] or text
          from = kept[which] and 1 or starts[which]
          after = kept[which] and #source + 1 or starts[which + 1] - LINE_STEP
          what, last, till, open, term, ends, ends_wall, members, digest, parked, by, listed, causes, from = read(RECORD, source, from)
          causes, from = causes > 0 and sub(source, from, from + causes - 1) or '', from + causes
        else
          causes = ''
        end
        if parked > 0 or (what >= 2 and by ~= asker) or (what == 3 and open == 0) then break end

        if operation >= 3 then
          -- A renewal, of the whole lease or as a proof that one ticket is held.
          if operation == 3 then
            if what < 2 or members ~= number or digest ~= mixed then break end
            reply = format('renewed %d', ttl)
          else
            local at, held_number, its_permits, its_size = from, nil, nil, nil
            while what == 3 and at < after do
              held_number, its_permits, _, _, its_fence, slot, its_size = read(TICKET, source, at)
              if held_number == number then break end
              held_number, at = nil, at + TICKET_SIZE + its_size
            end
            if not held_number then break end
            reply = its_permits == 1 and format('tickets %d held:%d:%d', ttl, its_fence, slot)
              or format('tickets %d held:%d:%d-%d', ttl, its_fence, slot, slot + its_permits - 1)
          end
          kept[which] = pack(PACK_RECORD, what, last, till, open, ttl, clock + ttl, now + ttl, members, digest, 0, by, 0, #causes, causes,
            from < after and sub(source, from, after - 1) or '')
          if now + ttl < due then due = now + ttl end
          if ttl > longest then longest = ttl end
          if margin < bound then bound = margin end
          is_growth, is_done = false, true
          break
        end

        if operation == 1 then
          if now > not_after or number <= last or permits < 1 then break end
          if holders + in_line == 0 then
            if asked_limit > MOST_PERMITS then break end
            limit, kind = asked_limit, asked_kind
          elseif limit ~= asked_limit or kind ~= asked_kind then
            break
          end
          if permits > limit then break end
          ticket = sub(line, ACQUIRE_AT + 8, ACQUIRE_AT + 39)
          if permits > limit - held then
            local most, priority, place_ttl, after
            _, _, _, _, _, _, _, _, _, _, most, priority, place_ttl, after = read(ASK, line, ACQUIRE_AT + 8)
            local is_known = false
            for k = count + 1, count + in_line do is_known = is_known or ids[k] == ticket end
            if is_known then break end
            if most < 0 then
              reply, is_done = format('busy %s full %d %d %d', ticket, limit, held, in_line), true
              break
            end
            -- In line, under the lease of the place, which that renews.
            if held < limit or in_line >= MOST_IN_LINE or in_line >= most or (most ~= UNBOUNDED and most > MOST_WAITING) then break end
            if not (place_ttl >= MIN_TTL and place_ttl <= MAX_TTL) or priority < -100 or priority > 100 then break end
            local place = sub(line, after + 32, after + 63)
            if place == id or string.find(place, '[^0-9a-f]') then break end
            if arrival < clock then arrival = clock else arrival = arrival + 1 end
            local rank, kinds, place_term, known, sum, owner = arrival - priority * 10000000, 2, place_ttl, 0, 0, asker
            if in_line > 0 then
              -- Whoever came before comes first.
              local before = kept[count + in_line]
              if read('<d', before or text, before and 91 or starts[count + in_line] + 90) >= rank then break end
            end
            which = 1
            while which <= count and ids[which] ~= place do which = which + 1 end
            if which <= count then
              local its_size = kept[which] and #kept[which] or starts[which + 1] - LINE_STEP - starts[which]
              kinds, _, _, _, place_term, _, _, known, sum, parked, owner = read(RECORD, kept[which] or text, kept[which] and 1 or starts[which])
              if kinds ~= 2 or parked > 0 or owner ~= asker or its_size ~= RECORD_SIZE then break end
            elseif count == MOST_RECORDS then
              break
            else
              -- A new record, before those who wait.
              for k = count + in_line, count + 1, -1 do
                kept[k + 1], ids[k + 1] = kept[k] or sub(text, starts[k], starts[k + 1] - LINE_STEP - 1), ids[k]
              end
              count, ids[which] = which, place
            end
            kept[which] = pack(RECORD, 2, 0, 0, 0, place_term, clock + place_ttl, now + place_ttl, known + 1, (sum + mixed) % DIGESTS, 0,
              asker, 0, 0)
            which = count + in_line + 1
            ids[which], kept[which] = ticket, pack(PACK_WAITER, 'W', '0', place, asker, permits, ttl, now, rank, priority, margin, id,
              sub(line, ABOUT_AT))
            in_line = in_line + 1
            if now + place_ttl < due then due = now + place_ttl end
            if place_term > longest then longest = place_term end
            if ttl > longest then longest = ttl end
            if margin > math.floor(place_ttl / 2) then margin = math.floor(place_ttl / 2) end
            if margin < bound then bound = margin end
            reply, is_done = format('queued %s %d %d', ticket, in_line, limit), true
            break
          end
          if in_line > 0 or (which > count and count == MOST_RECORDS) then break end
          slot, about, tickets = held, sub(line, ABOUT_AT), source and from < after and sub(source, from, after - 1) or ''
          if held == top then
            top = held + permits
          else
            if #free < 8 then break end
            local low, high = read('<I4I4', free)
            if low + permits - 1 > high then break end
            slot, free = low, sub(free, 9)
            if low + permits <= high then free = pack('<I4I4', low + permits, high) .. free end
          end
          held, holders, uses = held + permits, holders + 1, uses < 255 and uses + 1 or uses
        else
          -- A holder gives back all that one ticket has.
          if what < 3 then break end
          local at, held_number, its_size, its_ttl = from, nil, nil, nil
          while at < after do
            held_number, permits, its_ttl, _, its_fence, slot, its_size = read(TICKET, source, at)
            if held_number == number then break end
            held_number, at = nil, at + TICKET_SIZE + its_size
          end
          if not held_number then break end
          its_size = at + TICKET_SIZE + its_size
          tickets = (at > from and sub(source, from, at - 1) or '') .. (its_size < after and sub(source, its_size, after - 1) or '')
          members, digest, open, is_growth = members - 1, (digest - mixed) % DIGESTS, open - 1, false
          if clock + its_ttl > till then till = clock + its_ttl end
          if members == 0 then what, term, ends, ends_wall, digest, by = 1, 0, 0, 0, 0, NOBODY end
          reply = 'released ' .. sub(who, 33) .. format('%08x 0', number)
          if in_line == 0 then
            held, holders = held - permits, holders - 1
            if held == 0 then
              top, free = 0, ''
            elseif slot + permits == top then
              top = slot
            else
              local place = 1
              while place < #free and read('<I4', free, place) < slot do place = place + 8 end
              free = sub(free, 1, place - 1) .. pack('<I4I4', slot, slot + permits - 1) .. sub(free, place)
              if #free > 8 * MOST_FREE then break end
            end
          else
            -- Who is next takes just what is given back. Nothing else is free where somebody waits.
            if guard == 'over' or message then break end
            local heir = count + 1
            ticket, source, at = ids[heir], kept[heir] or text, kept[heir] and 1 or starts[heir]
            after = kept[heir] and #source or starts[heir + 1] - LINE_STEP - 1
            local place, to, wanted, next_lease
            _, _, place, to, wanted, ttl, _, _, _, margin, next_lease, at = read(WAITER, source, at)
            about = sub(source, at, after)
            if wanted ~= permits or #about > 255 or next_lease ~= sub(ticket, 1, 24) .. '00000000' or next_lease == place then break end
            if to == NOBODY then break end
            channel = string.match(KEYS[1], BEFORE_INBOX) .. INBOX .. to
            if to ~= asker and LISTENERS then
              local listeners = try('pubsub', LISTENERS, channel)[2]
              if not listeners or listeners == 0 then break end
            end
            local its_place = 1
            while its_place <= count and ids[its_place] ~= place do its_place = its_place + 1 end
            if its_place > count then break end
            its_size = kept[its_place] and #kept[its_place] or starts[its_place + 1] - LINE_STEP - starts[its_place]
            local kinds, _, _, _, place_term, place_ends, place_ends_wall, known, sum, aside =
              read(RECORD, kept[its_place] or text, kept[its_place] and 1 or starts[its_place])
            if kinds ~= 2 or aside > 0 or its_size ~= RECORD_SIZE then break end
            number = tonumber(sub(ticket, 25), 16)
            mixed = (number * 69069 + tonumber(sub(ticket, 19, 24), 16)) % 16777216
            mixed = mixed * (mixed * mixed % 16777216)
            if next_lease ~= id then
              kept[which] = pack(PACK_RECORD, what, last, till, open, term, ends, ends_wall, members, digest, 0, by, 0, #causes, causes, tickets)
              if open == 0 and now + till - clock < due then due = now + till - clock end
              id, which = next_lease, 1
              while which <= count and ids[which] ~= id do which = which + 1 end
              what, last, till, open, members, digest, causes, tickets, by = 0, 0, 0, 0, 0, 0, '', '', NOBODY
              if which <= count then
                source, at = kept[which] or text, kept[which] and 1 or starts[which]
                after = kept[which] and #source or starts[which + 1] - LINE_STEP - 1
                what, last, till, open, term, ends, ends_wall, members, digest, parked, by, listed, causes, at = read(RECORD, source, at)
                causes, at = causes > 0 and sub(source, at, at + causes - 1) or '', at + causes
                tickets = at <= after and sub(source, at, after) or ''
                if parked > 0 or (what >= 2 and by ~= to) or (what == 3 and open == 0) then break end
              elseif count == MOST_RECORDS then
                break
              end
            end
            -- It leaves the line and its place. The rows behind move up.
            if known > 1 then
              kept[its_place] = pack(RECORD, 2, 0, 0, 0, place_term, place_ends, place_ends_wall, known - 1, (sum - mixed) % DIGESTS, 0, to,
                0, 0)
            end
            local gone = 0
            for k = 1, count + in_line do
              if k == heir or (k == its_place and known == 1) then
                gone = gone + 1
              elseif gone > 0 then
                ids[k - gone], kept[k - gone] = ids[k], kept[k] or sub(text, starts[k], starts[k + 1] - LINE_STEP - 1)
              end
            end
            for k = count + in_line - gone + 1, count + in_line do ids[k], kept[k] = nil, nil end
            in_line = in_line - 1
            if known == 1 then
              count = count - 1
              if which > its_place then which = which - 1 end
            end
            -- A lease made for it ends no later than its place would have.
            if what < 2 then
              by, term, members, digest, ends, ends_wall, what = to, ttl, 0, 0, clock + ttl, now + ttl, what + 2
              if place_ends < ends then ends = place_ends end
              if place_ends_wall < ends_wall then ends_wall = place_ends_wall end
            end
            uses = uses < 255 and uses + 1 or uses
          end
        end

        -- A grant, at once or from the line.
        if about then
          fence = fence < now and now or fence + 1
          if what < 2 then
            by, term, ends, ends_wall, members, digest, what = asker, ttl, clock + ttl, now + ttl, 0, 0, what + 2
          end
          what, open, members, digest = 3, open + 1, members + 1, (digest + mixed) % DIGESTS
          if number > last then last = number end
          if clock + ttl > till then till = clock + ttl end
          if term > longest then longest = term end
          if margin < bound then bound = margin end
          tickets = tickets .. pack(TICKET, number, permits, ttl, now, fence, slot, #about) .. about
          if #tickets > MOST_INLINE then break end
          slots = permits == 1 and format('%d', slot) or format('%d-%d', slot, slot + permits - 1)
          if operation == 2 then
            message = format('granted %s %d %s %d ', ticket, fence, slots, limit) .. KEYS[1]
          else
            told = ends > clock and ends - clock or 0
            reply, told = format('granted %s %d %s %d %d', ticket, fence, slots, limit, told), pack('<ddI4d', now, fence, slot, told)
          end
        end
        if which > count then
          for k = count + in_line, count + 1, -1 do
            kept[k + 1], ids[k + 1] = kept[k] or sub(text, starts[k], starts[k + 1] - LINE_STEP - 1), ids[k]
          end
          count, ids[which] = which, id
        end
        kept[which] = pack(PACK_RECORD, what, last, till, open, term, ends, ends_wall, members, digest, 0, by, 0, #causes, causes, tickets)
        if what >= 2 then
          if now + ends - clock < due then due = now + ends - clock end
          if ends_wall < due then due = ends_wall end
        end
        if open == 0 and now + till - clock < due then due = now + till - clock end
        is_done = true
      until true
      if not is_done then break end
      i = i + 1
      line = ARGV[i]
      if i > 2 then
        replies[i] = reply
      else
        said = reply
        if line or operation == 4 or (operation == 1 and told == now) then replies = { '', said } end
      end
    end
    if line or fence - now > HALF_DAY then break end

    local is_idle, look_in = holders + in_line == 0, '-'
    local need, left = longest + HALF_DAY, nil
    if is_idle then
      -- The clock may run freely, and nobody's terms stay.
      bound, longest, limit, kind, need = UNBOUNDED, 0, 0, 45, 0
      for k = 1, count do
        local _, _, till = read('<BI4d', kept[k] or text, kept[k] and 1 or starts[k])
        if till - clock > need then need = till - clock end
      end
    elseif in_line > 0 then
      local front = kept[count + 1]
      if sub(front or text, front and 35 or starts[count + 1] + 34, front and 66 or starts[count + 1] + 65) == asker then
        -- When the first lease ends.
        left = bound
        if due - now < bound then
          for k = 1, count do
            local what, _, _, _, _, ends = read(RECORD, kept[k] or text, kept[k] and 1 or starts[k])
            if what >= 2 and ends - clock < left then left = ends - clock end
          end
        end
        look_in = format('%d', left > 1 and left or 1)
        replies = replies or { '', said }
      end
    end
    if need <= fence - now then need = fence - now + 1 end
    local most, milliseconds, value = need + ((is_idle and given < 0) and SECOND or HALF_DAY), nil, nil
    left = deadline - now
    if left < need or (left > most and (not is_idle or uses < MOST_SHORT)) then
      deadline, milliseconds = now + most, format('%d', most / 1000)
    end
    if is_idle and count == 1 and ids[1] == id and kept[1] and sub(id, 25) == '00000000' then
      local what, last, till, _, _, _, _, _, _, _, _, _, size, at = read(RECORD, kept[1])
      if what == 1 and size < 256 then
        value = pack(PACK_IDLE, IDLE_VERSION, asker .. sub(id, 1, 24), uses, last, clock, now, fence, deadline, till, size)
          .. sub(kept[1], at)
      end
    end
    if not value then
      -- What was not changed goes on as it is, in one piece where it can.
      local parts, k = { pack(PACK_LINE, LINE_VERSION, count, in_line, #free / 8, kind, uses, clock, now, bound, fence, due, deadline,
        longest, arrival, limit, held, holders, top, free) }, 1
      while k <= count + in_line do
        local first = k
        while k <= count + in_line and not kept[k] do k = k + 1 end
        if k > first then parts[#parts + 1] = sub(text, starts[first] - LINE_STEP, starts[k] - LINE_STEP - 1) end
        if k <= count + in_line then
          parts[#parts + 1] = pack('<c32I2', ids[k], #kept[k])
          parts[#parts + 1] = kept[k]
          k = k + 1
        end
      end
      value = table.concat(parts)
      if #value > LONGEST_LINE then break end
    end
    local failed = try('hset', KEYS[1], 'h', value)
    if type(failed) == 'table' then
      if is_growth or type(try('hdel', KEYS[1], '-')) == 'table' then break end
      if type(try('hset', KEYS[1], 'h', value)) == 'table' then break end
    end
    if milliseconds then
      try('pexpire', KEYS[1], milliseconds)
      if ALWAYS_LISTED then try('pexpire', KEYS[2], milliseconds) end
    end
    if message then try(PUBLISH, channel, message) end
    if not replies then return told end
    replies[1] = format('done %d 0 ', now) .. look_in
    return replies
  until true
