-- line_serve: gives free slots to the waiters of a line, in order, as far as they go. Then comes
-- the
--   next request.
-- keys   records order
-- args   as lean has them
-- reply  nothing
-- cost   one PUBSUB for each waiter that is looked at
--
-- The case in which the first waiter takes just the permits that are given back is in line_release.
-- It is the usual case, and this piece costs more
-- (docs/decisions/redis-representation.md).

      if serves then
        text = sub(text, 1, LINE_SIZE) .. p1 .. p2 .. p3 .. p4 .. p5 .. p6
        while serves do
          is_done, serves = false, false
          repeat
            local heir, size = byte(text, line_at, line_at + 1)
            local its_number, wanted, ttl, its_mixed = read('<I4I4dd', text, line_at + 2)
            local h = LINE_SIZE + 1 + (heir - 1) * SESSION_SIZE
            local inbox, its_series = read('<c32c24', text, h)
            local channel = string.match(key, BEFORE_INBOX) .. INBOX .. inbox
            if LISTENERS and inbox ~= sub(who, 1, 32) then
              local listeners = try('pubsub', LISTENERS, channel)[2]
              if not listeners or listeners == 0 then break end
            end
            -- The limit was lowered. The general path ends this waiter.
            if wanted > limit then break end
            is_done = true
            if wanted > limit - held then break end
            local free_at, slot, free = LINE_SIZE + 1 + count * SESSION_SIZE, held, ''
            local tickets_at = free_at + 8 * ranges
            if held == top then
              top = held + wanted
            else
              local low, high = read('<I4I4', text, free_at)
              is_done = low + wanted - 1 <= high
              if not is_done then break end
              slot = low
              if low + wanted <= high then
                free = pack('<I4I4', low + wanted, high)
              else
                ranges = ranges - 1
              end
              free = free .. sub(text, free_at + 8, tickets_at - 1)
            end
            local members, digest, last, till, ends, ends_wall = read('<BdI4ddd', text, h + 56)
            local place = #text - tail - places * PLACE_SIZE + 1
            while place < #text and byte(text, place) ~= heir do place = place + PLACE_SIZE end
            local waits, sum, place_ends, place_wall = read('<Bddd', text, place + 1)
            -- As in line_release, the new lease ends no later than the place would have ended.
            if members == 0 then
              ends, ends_wall = clock + ttl, now + ttl
              if place_ends < ends then ends = place_ends end
              if place_wall < ends_wall then ends_wall = place_wall end
              if now + ttl < due then due = now + ttl end
            end
            if its_number > last then last = its_number end
            if clock + ttl > till then till = clock + ttl end
            fence = fence < now and now or fence + 1
            local left = ''
            -- The place ends with the last waiter that stands under it.
            if waits > 1 then
              left = pack('<BBd', heir, waits - 1, (sum - its_mixed) % DIGESTS)
                .. sub(text, place + 10, place + PLACE_SIZE - 1)
            else
              places = places - 1
            end
            text = sub(text, 1, h + 55)
              .. pack('<BdI4ddd', members + 1, (digest + its_mixed) % DIGESTS, last, till, ends,
                ends_wall)
              .. sub(text, h + SESSION_CAUSES_AT, free_at - 1) .. free
              .. sub(text, tickets_at, line_at - 1)
              .. pack(LINE_TICKET, heir, size, its_number, wanted, slot, ttl, now, fence)
              .. sub(text, line_at + LINE_WAITER_SIZE, place - 1) .. left
              .. sub(text, place + PLACE_SIZE)
            line_at = line_at + LINE_TICKET_SIZE + size + #free - (tickets_at - free_at)
            held, holders, waiting, uses = held + wanted, holders + 1, waiting - 1,
              uses < 255 and uses + 1 or uses
            messages = messages or {}
            messages[#messages + 1] = channel
            messages[#messages + 1] = string.format(
              wanted == 1 and 'granted %s%08x %d %d %d ' or 'granted %s%08x %d %d-%d %d ',
              its_series, its_number, fence, slot,
              wanted == 1 and limit or slot + wanted - 1, limit) .. key
            serves = waiting > 0 and held < limit
          until true
        end
        p1, p2, p3, p4, p5, p6 = sub(text, LINE_SIZE + 1), '', '', '', '', ''
        if not is_done then break end
      end
      i = i + 1
      line = ARGV[i]
      if line then
        text = sub(text, 1, LINE_SIZE) .. p1 .. p2 .. p3 .. p4 .. p5 .. p6 .. p7 .. p8
        p1, p2, p3, p4, p5, p6, p7, p8 = '', '', '', '', '', '', '', ''
      end
    end
