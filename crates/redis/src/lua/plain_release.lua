-- plain_release: a holder gives back all permits of a ticket.
-- keys   records order
-- args   those of release
-- reply  released
-- cost   nothing

      elseif operation == 108 then
        local keeper, old_fence, since = by, nil, nil
        number, at = tonumber(sub(ticket, 25), 16), 1
        if not number then break end
        while at + TICKET_SIZE <= #tickets + 1 do
          local held_number, its_permits, its_ttl, began, its_fence, its_slot, its_size =
            read(TICKET, tickets, at)
          if held_number == number then
            permits, ttl, since, old_fence, slot = its_permits, its_ttl, began, its_fence, its_slot
            tickets = at == 1 and #tickets == TICKET_SIZE + its_size and ''
              or sub(tickets, 1, at - 1) .. sub(tickets, at + TICKET_SIZE + its_size)
            break
          end
          at = at + TICKET_SIZE + its_size
        end
        if not slot then
          -- The ticket may stand in an entry by itself. A call writes at its end, so an entry that
          -- this call has made or removed cannot be looked up.
          local is_kept = what == 3 and not (set and #set > 0)
          for k = 1, del and #del or 0 do is_kept = is_kept and del[k] ~= 't' .. ticket end
          local kept = is_kept and try('hget', records, 't' .. ticket)
          if type(kept) ~= 'string' or sub(kept, 1, 1) ~= 'H' then break end
          local is_whole, under, slots, _
          is_whole, _, _, under, keeper, permits, ttl, since, old_fence, slots =
            pcall(read, HOLDER, kept)
          local from = match(is_whole and slots or '', '^(%d+)%-?%d*$')
          if not from or under ~= sub(field, 2) then break end
          slot, del, rows = from + 0, del or {}, rows - 1
          del[#del + 1] = 't' .. ticket
          if is_wide then
            remove = remove or {}
            remove[#remove + 1] = 'm' .. sub(field, 2) .. ticket
          end
        end
        -- If another client keeps the ticket, that client must be told or the release refused. The
        -- general path does that.
        if keeper ~= inbox or what < 3 or open < 1 then break end
        if is_wide then
          remove = remove or {}
          remove[#remove + 1] = pack(MEMBER, 'g', old_fence, ticket)
        end
        members, digest, open, till = members - 1, (digest - digest_of(ticket, number)) % DIGESTS,
          open - 1, max(till, clock + ttl)
        if members == 0 then
          what, lease_ttl, ends, ends_wall, digest, by = 1, 0, 0, 0, 0, NOBODY
        end
        NOTE_HOLD{ recent, now - since }
        memory, is_growth, reply = max(memory, till), false, 'released ' .. ticket .. ' 0'
        holders, held, is_blocked = holders - 1, held - permits, false
        if held == 0 then
          if is_spread then break end
          top, free = 0, ''
        elseif slot + permits == top then
          top = slot
        elseif is_spread then
          -- ZADD comes before ZREM, and the taken range could be in both.
          if has_taken_free then break end
          add = add or {}
          add[#add + 1] = '0'
          add[#add + 1] = pack(FREE, 'f', slot, slot + permits - 1)
        else
          at = 1
          while at < #free and read('<I4', free, at) < slot do at = at + 8 end
          free = sub(free, 1, at - 1) .. pack('<I4I4', slot, slot + permits - 1) .. sub(free, at)
          if #free > 8 * MOST_FREE then break end
        end

