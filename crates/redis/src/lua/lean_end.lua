-- lean_end: writes the value that lean has made, and answers.
-- keys   records order
-- args   as lean has them
-- reply  what lean says
-- cost   one HSET; PEXPIRE if the keys would expire too early; HDEL if the tickets stood apart

    -- A fence far ahead of the clock makes the keys live longer. The general path handles that.
    if line or fence - now > HALF_DAY then break end
    -- With restart-guard: over.

    local need, most, milliseconds, value, apart
    -- Making a string costs as much as it is long, so text is cut only if a part was taken from its
    -- front.
    local rest = held and (from == 0 and text or sub(text, from + 1))
    if held ~= 0 then
      need = term + HALF_DAY
      most = need + HALF_DAY
    else
      -- Nobody holds, so the ledger's clock may run freely. The bound is lifted only here, because
      -- the margin of an acquire binds the other grants of the same call.
      need = till - clock
      if need <= fence - now then need = fence - now + 1 end
      most = need + (given < 0 and SECOND or HALF_DAY)
    end
    left = deadline - now
    if left < need or left > most and (held ~= 0 or uses < MOST_SHORT) then
      deadline, milliseconds = now + most, string.format('%d', most / 1000)
    end
    if about then
      value = pack(PACK_FIRST, FIRST_VERSION, owner, uses, last, clock, now, deadline, till, kind,
        limit, held, bound, term, digest, recent, about)
    elseif held == 0 then
      value = pack(PACK_IDLE, IDLE_VERSION, owner, uses, last, clock, now, fence, deadline, till,
        recent) .. rest
    elseif held then
      local ranges = low and pack('<I4I4', low, high) or free
      value = pack(PACK_LONE, LONE_VERSION, owner, members, digest, clock, now, fence, bound,
        deadline, term, ends, ends_wall, uses, last, till, kind, limit, held, top, recent,
        #ranges / 8, size)
      if added then
        added[1], added[2], added[3] = value, ranges, rest
        value = table.concat(added)
      else
        value = value .. ranges .. rest
      end
    else
      if form == LONE_VERSION and members > 1 and not is_apart then
        form, apart, text = APART_VERSION, sub(text, LONE_SIZE + 1), sub(text, 1, LONE_SIZE)
      end
      -- The rest is short, so copying it byte by byte costs less than a string without it.
      value = pack(PACK_RENEWED_WHOLE, form, owner, members, digest, clock, now, fence, bound,
        deadline, term, ends, ends_wall, sub(text, LONE_MORE_AT))
    end
    local put = apart and try('hset', key, 'h', value, 'a', apart) or try('hset', key, 'h', value)
    -- Most writes answer 0, and for them the check of the type is skipped.
    if put ~= 0 and type(put) == 'table' then break end
    if is_apart then try('hdel', key, 'a') end
    if milliseconds then
      try('pexpire', key, milliseconds)
      if ALWAYS_LISTED or form == CROWD_VERSION then try('pexpire', KEYS[2], milliseconds) end
    end
    return granted and table.concat(granted) or now
  until true
