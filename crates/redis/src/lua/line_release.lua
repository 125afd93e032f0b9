-- line_release: a holder at a line gives back all permits of a ticket, and the first waiter gets
--   them.
-- keys   records order
-- args   as lean has them
-- reply  nothing
-- cost   to hand over one PUBSUB
--
-- If the first waiter wants more or fewer permits than are given back, line_serve goes on with the
-- line.

        elseif operation == 2 then
          local number, mixed = read('<I4d', line, TERMS_AT)
          local free_at = LINE_SIZE + 1 + count * SESSION_SIZE
          local tickets_at = free_at + 8 * ranges
          local at, after, its_number, permits, slot, its_ttl, since =
            tickets_at, tickets_at, nil, nil, nil, nil, nil
          while at < line_at do
            local its, its_size = byte(text, at, at + 1)
            after = at + LINE_TICKET_SIZE + its_size
            if its == mine then
              its_number, permits, slot, its_ttl, since = read('<I4I4I4dd', text, at + 2)
              if its_number == number then break end
            end
            at = after
          end
          if at >= line_at then break end
          local members, digest, last, till, ends, ends_wall = read('<BdI4ddd', text, s + 56)
          NOTE_HOLD{ recent, now - since }
          members, digest, from = members - 1, (digest - mixed) % DIGESTS, LINE_SIZE + 1
          if clock + its_ttl > till then till = clock + its_ttl end
          if members == 0 then
            ends, ends_wall = 0, 0
            if now + till - clock < due then due = now + till - clock end
          end
          local heir, size, its_mixed, ttl, wanted
          if waiting > 0 then
            heir, size = byte(text, line_at, line_at + 1)
            its_number, wanted, ttl, its_mixed = read('<I4I4dd', text, line_at + 2)
          end
          if wanted ~= permits or held ~= limit or top ~= held or message then
            local free = sub(text, free_at, tickets_at - 1)
            held, holders = held - permits, holders - 1
            if held == 0 then
              top, free = 0, ''
            elseif slot + permits == top then
              top = slot
            else
              local place = 1
              while place < #free and read('<I4', free, place) < slot do place = place + 8 end
              free = sub(free, 1, place - 1) .. pack('<I4I4', slot, slot + permits - 1)
                .. sub(free, place)
            end
            ranges, till_then, serves = #free / 8, till, waiting > 0
            p1, p2 = sub(text, LINE_SIZE + 1, s + 55),
              pack('<BdI4ddd', members, digest, last, till, ends, ends_wall)
            p3, p4, p5, p6 = sub(text, s + SESSION_CAUSES_AT, free_at - 1), free,
              sub(text, tickets_at, at - 1), sub(text, after)
            line_at = line_at - (after - at) + #free - (tickets_at - free_at)
          else
            -- The first waiter wants just the permits that are given back, and nothing else is
            -- free. So it gets the same slots.
            local h = LINE_SIZE + 1 + (heir - 1) * SESSION_SIZE
            local inbox, its_series = read('<c32c24', text, h)
            channel = string.match(key, BEFORE_INBOX) .. INBOX .. inbox
            local lease
            if heir ~= mine then
              local listeners = LISTENERS and try('pubsub', LISTENERS, channel)[2]
              if LISTENERS and (not listeners or listeners == 0) then break end
              lease = pack('<BdI4ddd', members, digest, last, till, ends, ends_wall)
              members, digest, last, till, ends, ends_wall = read('<BdI4ddd', text, h + 56)
            end
            place = #text - tail - places * PLACE_SIZE + 1
            while place < #text and byte(text, place) ~= heir do place = place + PLACE_SIZE end
            local waits, sum, place_ends, place_wall = read('<Bddd', text, place + 1)
            -- A lease that is made for the waiter ends no later than its place would have ended,
            -- because the client has not been heard from since.
            if members == 0 then
              ends, ends_wall = clock + ttl, now + ttl
              if place_ends < ends then ends = place_ends end
              if place_wall < ends_wall then ends_wall = place_wall end
              if now + ttl < due then due = now + ttl end
            end
            if its_number > last then last = its_number end
            if clock + ttl > till then till = clock + ttl end
            fence = fence < now and now or fence + 1
            if not ARGV[2] then from = LINE_TURN_END + 1 end
            p2 = pack('<BdI4ddd', members + 1, (digest + its_mixed) % DIGESTS, last, till, ends,
              ends_wall)
            if heir > mine then
              p2, p3, p4 = lease, sub(text, s + SESSION_CAUSES_AT, h + 55), p2
            elseif heir < mine then
              p3, p4, s, h = sub(text, h + SESSION_CAUSES_AT, s + 55), lease, h, s
            end
            p1, p5 = sub(text, from, s + 55), sub(text, h + SESSION_CAUSES_AT, at - 1)
            if after < line_at then p5 = p5 .. sub(text, after, line_at - 1) end
            local first_end = line_at + LINE_WAITER_SIZE + size
            p6 = pack(LINE_TICKET, heir, size, its_number, permits, slot, ttl, now, fence)
            if size > 0 then p7 = sub(text, line_at + LINE_WAITER_SIZE, first_end - 1) end
            -- The place ends with the last waiter that stands under it.
            if waits > 1 then
              p8 = pack('<BBd', heir, waits - 1, (sum - its_mixed) % DIGESTS)
                .. sub(text, place + 10)
            else
              p8, places = sub(text, place + PLACE_SIZE), places - 1
            end
            if first_end < place then p8 = sub(text, first_end, place - 1) .. p8 end
            line_at, waiting, uses = line_at - (after - at) + LINE_TICKET_SIZE + size, waiting - 1,
              uses < 255 and uses + 1 or uses
            message = string.format(
              permits == 1 and 'granted %s%08x %d %d %d ' or 'granted %s%08x %d %d-%d %d ',
              its_series, its_number, fence, slot,
              permits == 1 and limit or slot + permits - 1, limit) .. key
          end
          is_done = true
