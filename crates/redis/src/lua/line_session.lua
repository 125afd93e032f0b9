-- line_session: finds the session that sent a request at a line, and adds a new one.
-- keys   records order
-- args   as lean has them
-- reply  nothing
-- cost   nothing

    -- granted: whether this call might grant permits, or tell a waiter when to look in. from: the
    -- start of the part of the old text that is written again. said: the answers to acquires and
    -- proofs. till_then: until when the session that gave permits back is remembered.
    local i, about, granted, from, said, channel, message, mine, till_then =
      1, nil, waiting > 0, nil, nil, nil, nil, nil, nil
    -- serves: whether slots are free that waiters might get. messages: the wakeups for these
    -- waiters, each behind its channel.
    local serves, messages = false, nil
    local p1, p2, p3, p4, p5, p6, p7, p8 = '', '', '', '', '', '', '', ''
    while line do
      local operation, is_done = byte(line), false
      repeat
        if #line < (operation == 1 and ABOUT_AT - 1 or operation == 2 and RELEASE_SIZE
              or operation == 3 and RENEW_SIZE or PROOF_SIZE)
            or #line > ABOUT_AT + 254 then
          break
        end
        if i > 1 then who = sub(line, 18, 73) end
        local s, is_new, place = find(text, who, LINE_SIZE + 1, true), false, nil
        if not s then
          local asker, series = sub(who, 1, 32), sub(who, 33)
          if operation == 3 then
            local places_at = #text - tail - places * PLACE_SIZE + 1
            place = find(text, series, places_at, true)
            place = place and place - 26
            if not place or (place - places_at) % PLACE_SIZE > 0 then break end
            s = LINE_SIZE + 1 + (byte(text, place) - 1) * SESSION_SIZE
            if sub(text, s, s + 31) ~= asker then break end
          else
            -- The session is new here, or only a memory of it is left.
            if operation ~= 1 then break end
            s = find(text, NOBODY .. series, LINE_SIZE + 1, true)
            if s then
              if s > LINE_SIZE + count * SESSION_SIZE or byte(text, s + 56) > 0 then break end
              text = sub(text, 1, s - 1) .. asker .. sub(text, s + 32)
            elseif find(text, series, LINE_SIZE + 1, true) then
              break
            else
              s, is_new = LINE_SIZE + 1 + count * SESSION_SIZE, true
              text = sub(text, 1, s - 1) .. pack(LINE_SESSION, asker, series, 0, 0, 0, 0, 0, 0, 0)
                .. sub(text, s)
              count, line_at = count + 1, line_at + SESSION_SIZE
            end
          end
        end
        mine = (s - LINE_SIZE - 1) / SESSION_SIZE + 1
        if mine > count or mine % 1 > 0 then break end
