-- plain_acquire: a newcomer gets its permits, or stands in line if too few are free.
-- keys   records order
-- args   those of acquire
-- reply  queued
-- cost   to stand in line one HMGET and one ZADD

      if operation == 113 then
        if permits < 1 or permits > MOST_PERMITS or asked_limit > MOST_PERMITS
            or #line > ASK_SIZE + 319 then
          break
        end
        if ttl < MIN_TTL or ttl > MAX_TTL or place_ttl < MIN_TTL or place_ttl > MAX_TTL then
          break
        end
        if margin > UNBOUNDED or priority < -100 or priority > 100 or number <= last then break end
        about = sub(line, at + 64)
        if by ~= inbox and (what >= 2 or match(inbox, '[^-0-9a-f]') or #inbox ~= 32) then break end
        if holders + waiting == 0 then
          stated = -1
          if pinned < 0 then kind = '-' end
        end
        if kind ~= '-' and kind ~= asked_kind then break end
        -- `going` is the limit that applies, and `stated` the limit that is kept. The general path
        -- handles a limit that has to be refused or changed.
        limit = pinned >= 0 and pinned or stated >= 0 and stated or 1
        local going = (rule == '-' or pinned >= 0 or stated >= 0) and limit or asked_limit
        if (rule == 'R' and pinned < 0 or rule == 'E') and going ~= asked_limit then break end
        if (rule == 'S' and stated >= 0 and stated ~= asked_limit) or permits > going then break end
        -- A limit that is stated for the first time may let waiters in.
        if waiting > 0 and going ~= limit then break end
        if stated < 0 then stated = rule ~= '-' and asked_limit or (pinned < 0 and going or -1) end
        kind, limit = asked_kind, going
        if permits <= going - held and waiting == 0 then
          is_granted = true
        else
          -- The newcomer stands in line under the lease of its session's place, and joining renews
          -- that lease.
          local place, most_waiting = sub(line, at + 32, at + 63),
            most == UNBOUNDED and most or min(most, MOST_WAITING)
          if waiting >= most_waiting or most > most_waiting or match(place, '[^0-9a-f]') then
            break
          end
          local place_field = 'r' .. place
          if has_queued or place_field == field or (saved and saved[place_field] ~= nil)
              or #inbox ~= 32 or match(inbox, '[^-0-9a-f]') then
            break
          end
          local there = try('hmget', records, 't' .. ticket, place_field)
          if there.err or there[1] then break end
          local place_record, place_listed, known, sum, aside, owner, term = there[2], 0, 0, 0, 0,
            inbox, place_ttl
          if place_record then
            local kinds, _
            if #place_record ~= RECORD_SIZE then break end
            kinds, _, _, _, term, _, _, known, sum, aside, owner, place_listed =
              read(RECORD, place_record)
            if kinds ~= 2 then break end
          else
            rows = rows + 1
          end
          set, add, rows, waiting, arrival = set or {}, add or {}, rows + 1, waiting + 1,
            max(arrival + 1, clock)
          if rows > MOST_ROWS and not is_wide then break end
          local place_due, rank = floor(passed + place_ttl), arrival - priority * 10000000
          due, longest = min(due, place_due), max(longest, place_ttl, ttl)
          at = #add
          if is_wide then
            add[at + 1], add[at + 2], at = '0', 'm' .. place .. ticket, at + 2
            if place_listed == 0 then
              place_listed, add[at + 1], add[at + 2], at = place_due, '0',
                pack(MEMBER, 'e', place_due, place), at + 2
            elseif place_due < place_listed then
              break
            end
          end
          local member = pack(MEMBER, 'q', rank + RANK_BIAS, ticket)
          add[at + 1], add[at + 2], at = '0', member, #set
          saved = saved or {}
          saved[place_field] = pack(RECORD, 2, 0, 0, 0, term, clock + place_ttl, now + place_ttl,
            known + 1, (sum + digest_of(ticket)) % DIGESTS, aside, owner, place_listed, 0)
          set[at + 1], set[at + 2] = 't' .. ticket, pack(WAITER, 'W', '0', place, inbox, permits,
            ttl, now, rank, priority, margin, sub(field, 2)) .. about
          if front == nil and waiting > 1 and inbox ~= NOBODY then
            front = try('zrangebylex', order, '[q', '(r', 'limit', '0', '1')[1]
            local entry = front and try('hget', records, 't' .. sub(front, 10))
            if entry and type(entry) ~= 'string' then break end
            front_inbox = entry and sub(entry, 35, 66)
          end
          -- Ranks are compared as numbers: Lua compares strings in the order of the server's
          -- locale.
          local _, front_rank = read('>c1I8', front or member)
          if front and front ~= member and front_rank == rank + RANK_BIAS then break end
          if not front or rank + RANK_BIAS < front_rank then
            -- The newcomer passes the line and fits, so it would be granted at once. The general
            -- path handles that.
            if permits <= going - held then break end
            front, front_inbox = member, inbox
          end
          has_queued, is_blocked = true, true
          margin = min(margin, floor(place_ttl / 2))
          reply = format('queued %s %d %d', ticket, waiting, going)
        end
        bound = min(bound, margin)

