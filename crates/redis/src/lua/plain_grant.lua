-- plain_grant: grants free slots to the first waiter, and does the work that every grant and every
--   change of a record needs.
-- keys   records order
-- args   none of its own
-- reply  granted
-- cost   to hand over one HGET, HDEL, ZREM and PUBLISH

      elseif operation == 0 then
        local _, its_place, to, term, next_lease
        ticket = heir
        _, _, its_place, to, permits, term, _, _, _, margin, next_lease, at =
          read(WAITER, heir_text[1])
        if 'r' .. next_lease ~= field or 'r' .. its_place == field then break end
        if what >= 2 and by ~= to then break end
        local there = saved and saved['r' .. its_place]
        if there == nil then there = try('hget', records, 'r' .. its_place) end
        if type(there) ~= 'string' or #there ~= RECORD_SIZE then break end
        local kinds, place_term, place_ends, place_ends_wall, known, sum, aside, owner, place_listed
        kinds, _, _, _, place_term, place_ends, place_ends_wall, known, sum, aside, owner,
          place_listed = read(RECORD, there)
        if kinds ~= 2 then break end
        if to ~= NOBODY then
          messages = messages or {}
          messages[#messages + 1] = match(records, BEFORE_INBOX) .. INBOX .. to
        end
        if is_wide then remove[#remove + 1] = 'm' .. its_place .. heir end
        saved, del = saved or {}, del or {}
        if known == 1 then
          rows, saved['r' .. its_place] = rows - 1, false
          del[#del + 1] = 'r' .. its_place
          if place_listed > 0 then
            remove[#remove + 1] = pack(MEMBER, 'e', place_listed, its_place)
          end
        else
          saved['r' .. its_place] = pack(RECORD, 2, 0, 0, 0, place_term,
            place_ends, place_ends_wall, known - 1, (sum - digest_of(heir)) % DIGESTS, aside, owner,
            place_listed, 0)
        end
        del[#del + 1], rows, waiting = 't' .. heir, rows - 1, waiting - 1
        -- A lease that is made for the waiter ends no later than its place would have ended,
        -- because the client has not been heard from since.
        ttl, about, number, bound = term, sub(heir_text[1], at), tonumber(sub(heir, 25), 16),
          min(bound, margin)
        if #about > 255 then break end
        if what < 2 then
          by, lease_ttl, members, digest, parked = to, term, 0, 0, 0
          ends, ends_wall, what = min(clock + term, place_ends),
            min(now + term, place_ends_wall), what + 2
        end
        is_granted, heir = true, nil
      end

      -- This part is done for every grant, at once or from the line.
      if is_granted then
        if top == held or held == 0 then
          if is_spread then break end
          slot, top, free = held, held + permits, ''
        elseif is_spread then
          local member = try('zrangebylex', order, '[f', '(g', 'limit', '0', '1')[1]
          if not member or #member ~= 17 or (remove and #remove > 0) or (add and #add > 0) then
            break
          end
          local _, lowest, highest = read(FREE, member)
          if lowest + permits - 1 > highest then break end
          slot, remove, has_taken_free = lowest, { member }, true
          if lowest + permits <= highest then
            add = { '0', pack(FREE, 'f', lowest + permits, highest) }
          end
        else
          local lowest, highest = read('<I4I4', free)
          if lowest + permits - 1 > highest then break end
          slot, free = lowest, sub(free, 9)
          if lowest + permits <= highest then
            free = pack('<I4I4', lowest + permits, highest) .. free
          end
        end
        held, holders = held + permits, holders + 1
        fence = max(fence + 1, now)
        if what < 2 then
          by, lease_ttl, ends, ends_wall, members, digest, parked, what =
            inbox, ttl, clock + ttl, now + ttl, 0, 0, 0, what + 2
        end
        if what == 2 then past, what = past + 1, 3 end
        if past > MOST_MEMORIES then break end
        last, till, open = max(last, number), max(till, clock + ttl), open + 1
        members, digest = members + 1, (digest + digest_of(ticket, number)) % DIGESTS
        memory, longest = max(memory, till), max(longest, lease_ttl)
        local slots = permits == 1 and format('%d', slot)
          or format('%d-%d', slot, slot + permits - 1)
        if #tickets + #about + TICKET_SIZE <= MOST_INLINE and not (is_wide and tickets ~= '') then
          tickets = tickets .. pack(TICKET, number, permits, ttl, now, fence, slot, #about) .. about
        else
          if operation == 0 then break end
          set, rows = set or {}, rows + 1
          set[#set + 1] = 't' .. ticket
          set[#set + 1] = pack(HOLDER, 'H', '0', sub(field, 2), by, permits, ttl, now, fence, slots)
            .. about
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
          if by ~= NOBODY then
            messages[#messages + 1] =
              format('granted %s %d %s %d ', ticket, fence, slots, limit) .. records
          end
        else
          reply = format('granted %s %d %s %d %d', ticket, fence, slots, limit,
            max(ends - clock, 0))
        end
      end

      -- The record has changed, unless the request only stood in line: then its place was written.
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
    if not is_done then
      i = 0
      break
    end
    if operation > 0 then
      replies[#replies + 1] = reply
      i = i + 1
    end
  end
