-- line_acquire: a newcomer at a line gets its permits, stands in line, or learns that all are
--   taken.
-- keys   records order
-- args   as lean has them
-- reply  which: 1 granted, and fence slot valid_for; 2 in line, and how many wait, limit; 3 all
--        taken, and limit held, how many wait
-- cost   nothing

        if operation == 1 then
          local number, mixed, permits, asked_limit, asked_kind, ttl, margin, not_after, _, most,
            priority, place_ttl, id, zeros = read('<I4dI4I4BdddBdi4dc24c8', line, TERMS_AT)
          local size = #line - ABOUT_AT + 1
          if now > not_after or number <= read('<I4', text, s + 65) then break end
          if not (ttl >= MIN_TTL and ttl <= MAX_TTL) then break end
          if holders + waiting == 0 then
            limit, kind = asked_limit, asked_kind
          elseif limit ~= asked_limit or kind ~= asked_kind then
            break
          end
          if permits > limit then break end
          local told
          granted, from = true, LINE_SIZE + 1
          if permits <= limit - held and waiting == 0 then
            local free_at, slot, free = LINE_SIZE + 1 + count * SESSION_SIZE, held, ''
            local tickets_at = free_at + 8 * ranges
            if held == top then
              top = held + permits
            else
              local low, high = read('<I4I4', text, free_at)
              if low + permits - 1 > high then break end
              slot = low
              if low + permits <= high then
                free = pack('<I4I4', low + permits, high)
              else
                ranges = ranges - 1
              end
              free = free .. sub(text, free_at + 8, tickets_at - 1)
            end
            local members, digest, _, till, ends, ends_wall = read('<BdI4ddd', text, s + 56)
            if members == 0 then ends, ends_wall = clock + ttl, now + ttl end
            if clock + ttl > till then till = clock + ttl end
            fence = fence < now and now or fence + 1
            p1, p2 = sub(text, LINE_SIZE + 1, s + 55),
              pack('<BdI4ddd', members + 1, (digest + mixed) % DIGESTS, number, till, ends,
                ends_wall)
            p3, p4, p5 = sub(text, s + SESSION_CAUSES_AT, free_at - 1), free,
              sub(text, tickets_at, line_at - 1)
            p6, p7 = pack(LINE_TICKET, mine, size, number, permits, slot, ttl, now, fence),
              sub(line, ABOUT_AT)
            p8 = sub(text, line_at)
            line_at = line_at + LINE_TICKET_SIZE + size + #free - (tickets_at - free_at)
            held, holders, uses = held + permits, holders + 1, uses < 255 and uses + 1 or uses
            if now + ttl < due then due = now + ttl end
            told = pack('<BdI4d', 1, fence, slot, ends - clock)
          else
            local places_at = #text - tail - places * PLACE_SIZE + 1
            place = places_at
            while place <= #text - tail and byte(text, place) ~= mine do
              place = place + PLACE_SIZE
            end
            local is_waiting = place <= #text - tail
            if most < 0 then
              if is_waiting then break end
              if is_new then
                text, count, line_at = sub(text, 1, s - 1) .. sub(text, s + SESSION_SIZE),
                  count - 1, line_at - SESSION_SIZE
              end
              p1, margin = sub(text, LINE_SIZE + 1), UNBOUNDED
              told = pack('<BI4I4I4', 3, limit, held, waiting)
            else
              if waiting >= most then break end
              if not (place_ttl >= MIN_TTL and place_ttl <= MAX_TTL) or zeros ~= '00000000' then
                break
              end
              if arrival < clock then arrival = clock else arrival = arrival + 1 end
              local rank, at, before = arrival - priority * 10000000, line_at, places_at
              for k = 1, waiting do
                local its, its_size = byte(text, at, at + 1)
                local its_number, _, _, _, its_rank = read('<I4I4ddd', text, at + 2)
                if its_rank == rank or (its == mine and its_number == number) then
                  at = nil
                  break
                end
                if its_rank > rank and at < before then before = at end
                at = at + LINE_WAITER_SIZE + its_size
              end
              -- A newcomer that is first by its rank and finds enough permits would be granted at
              -- once. The general path handles that.
              if not at or (before == line_at and permits <= limit - held) then break end
              -- A waiter stands under the lease of its session's place, and joining the line renews
              -- that lease.
              local waits, sum, after, known = 0, 0, place, nil
              if is_waiting then
                waits, sum, _, _, known = read('<Bdddc24', text, place + 1)
                if id ~= known then break end
                after = place + PLACE_SIZE
              elseif find(text, id, LINE_SIZE + 1, true) then
                break
              else
                places = places + 1
              end
              if not (ARGV[2] or is_new) then from = LINE_TURN_END + 1 end
              p1, p2, p3 = sub(text, from, before - 1),
                pack(LINE_WAITER, mine, size, number, permits, ttl, mixed, rank, now, margin,
                  priority),
                sub(line, ABOUT_AT)
              if before < place then p4 = sub(text, before, place - 1) end
              p5 = pack(LINE_PLACE, mine, waits + 1, (sum + mixed) % DIGESTS, clock + place_ttl,
                now + place_ttl, id)
              if after <= #text then p6 = sub(text, after) end
              waiting = waiting + 1
              if now + place_ttl < due then due = now + place_ttl end
              if margin > place_ttl / 2 then margin = (place_ttl - place_ttl % 2) / 2 end
              told = pack('<BI4I4', 2, waiting, limit)
            end
          end
          said = said and said .. told or told
          if margin < bound then bound = margin end
          is_done = true
