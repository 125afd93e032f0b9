-- plain_renew: extends a lease, or confirms that some tickets of a record are held and extends
-- their
--   lease.
-- keys   records order
-- args   those of renew
-- reply  renewed tickets
-- cost   nothing more

      elseif operation == 110 then
        local count, sum = match(whom, '^all (%d+) (%d+)$')
        ttl, margin = ttl + 0, margin + 0
        if what < 2 or by ~= inbox or ttl < MIN_TTL or ttl > MAX_TTL or margin > UNBOUNDED then
          break
        end
        if count then
          if members ~= count + 0 or digest ~= sum + 0 or parked ~= 0 then break end
          reply = format('renewed %d', ttl)
        else
          -- The renewal names tickets, and all of them have to be in the record.
          local series, told = sub(want, 2, 25), format('tickets %d', ttl)
          if sub(want, 26) ~= '00000000' or #whom > 1024
              or not match(whom, '^tickets [0-9a-f]') then
            break
          end
          for named in string.gmatch(sub(whom, 9), '%S+') do
            local is_found = false
            number, at =
              #named == 32 and sub(named, 1, 24) == series and tonumber(sub(named, 25), 16), 1
            while number and at + TICKET_SIZE <= #tickets + 1 do
              local held_number, its_permits, _, _, its_fence, its_slot, its_size =
                read(TICKET, tickets, at)
              if held_number == number then
                is_found, told = true,
                  told .. (its_permits == 1 and format(' held:%d:%d', its_fence, its_slot)
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

