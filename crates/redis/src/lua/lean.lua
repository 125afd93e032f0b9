-- lean: executes acquires, releases and renewals of the only session at a name with one read and
--   one write.
-- keys   records order
-- args   requests, in the forms PLAIN_* below
-- reply  now. If an acquire was not the only request, or got another fence than now or another slot
--        than the first: a string of now, and of fence slot valid_for for each acquire
-- cost   one TIME, one HGET, one HSET; PEXPIRE if the keys would expire too early; where tickets
--        stand apart, one HGET and one HDEL more, but for a renewal
--
-- The value has a form of forms in which head and record are one. What is not as simple as this
-- path needs breaks out of the block before anything is written. Then line and lean_renew try, and
-- in the end lean_words puts the requests into the words of the general path.
-- PLAIN_*: a request that is likely to be plain. First its kind (1 an acquire, 2 a release, 3 a
--   renewal, 4 a proof), now (below zero: take the server's clock), the fence seen, inbox and
--   series. Then of an acquire number digest permits limit kind ttl margin not_after, what
--   lean_words reads, and about; of a release number digest; of a renewal ttl margin members
--   digest; of a proof, which renews one ticket, number ttl margin.

local ARGV = ARGV
is_packed = (string.byte(ARGV[1] or '') or 32) < 5
if is_packed then
  local PLAIN_ACQUIRE, PLAIN_RELEASE, PLAIN_RENEW = '<ddc56I4dI4I4Bddd', '<ddc56I4d', '<ddc56dddd'
  -- All that follows the series in an acquire, and in a renewal, as lean_words reads it.
  local ACQUIRE_WORDS, RENEW_WORDS = '<I4dI4I4c1dddc1di4dc32', '<dddd'
  -- How long requests are, where in each the part after the series begins, and where about begins.
  local RELEASE_SIZE, RENEW_SIZE, PROOF_SIZE, TERMS_AT, ABOUT_AT = 85, 105, 93, 74, 172
  local TICKET_ABOUT, PACK_FIRST = '<I4I4dddI4Bc0', '<Bc56BI4ddddBI4I4ddddc0'
  local PACK_RENEWED = '<Bc56I4ddddddddd'
  -- A lone value has at most so many tickets, and takes another one only up to so many bytes. In
  -- its first so many grants the keys are set to expire early whenever nobody holds: such a name
  -- may not be used again.
  local MOST_LONE, LONGEST_LONE, MOST_SHORT = 80, 6144, 16
  local struct, string, redis = struct, string, redis
  local try, read, pack, byte, sub =
    redis.pcall, struct.unpack, struct.pack, string.byte, string.sub
  repeat
    local line, text = ARGV[1], try('hget', KEYS[1], 'h')
    head_text = text
    if not text or #text < IDLE_SIZE then break end
    -- The causes and tickets are the part of text behind from, and then what this call has added.
    -- held, top and free (the free slots below the top) stay nil until a request needs them.
    local form, uses, last, clock, wall, fence, deadline, till, size, kind, limit, held, bound,
      term, ends, ends_wall, members, digest, recent, left, from = byte(text)
    if form == LINE_VERSION then break end
    if form >= APART_VERSION and (ARGV[2] or byte(line) ~= 3) then
      -- All but the renewal of a whole lease need the tickets.
      local apart = form == APART_VERSION and try('hget', KEYS[1], 'a')
      if type(apart) ~= 'string' or #text ~= LONE_SIZE then break end
      text, form, is_apart = string.char(LONE_VERSION) .. sub(text, 2) .. apart, LONE_VERSION, true
      head_text = text
    end
    if form == IDLE_VERSION then
      uses, last, clock, wall, fence, deadline, till, recent = read(IDLE, text, 58)
      held, bound, members, digest, left, from, size =
        0, UNBOUNDED, 0, 0, UNBOUNDED, IDLE_SIZE, #text - IDLE_SIZE
    elseif form == FIRST_VERSION and #text >= FIRST_SIZE then
      uses, last, clock, wall, deadline, till, kind, limit, held, bound, term, digest, recent =
        read(FIRST, text, 58)
      fence, size, ends, ends_wall, members, left = wall, 0, clock + term, wall + term, 1, term
    elseif (form == LONE_VERSION or form == APART_VERSION or form == CROWD_VERSION)
        and #text >= LONE_SIZE then
      members, digest, clock, wall, fence, bound, deadline, term, ends, ends_wall =
        read(LONE, text, 58)
      left, from = ends - clock, LONE_SIZE
      if left > ends_wall - wall then left = ends_wall - wall end
    else
      break
    end
    local i, top, free, now, owner, given, granted, about, added =
      1, held, '', nil, nil, nil, nil, nil, nil
    while line do
      local operation, is_done, seen, who, number, mixed, permits, asked_limit, asked_kind, ttl,
        margin, not_after = byte(line), false
      repeat
        if operation == 1 then
          if #line < ABOUT_AT - 1 or #line > ABOUT_AT + 254 then break end
          given, seen, who, number, mixed, permits, asked_limit, asked_kind, ttl, margin,
            not_after = read(PLAIN_ACQUIRE, line, 2)
        elseif operation == 2 and #line >= RELEASE_SIZE then
          given, seen, who, number, mixed = read(PLAIN_RELEASE, line, 2)
        elseif operation == 3 and #line >= RENEW_SIZE then
          given, seen, who, ttl, margin, number, mixed = read(PLAIN_RENEW, line, 2)
        end
        if not now then
          if not who or string.find(text, who, 2, true) ~= 2 then break end
          owner, now = who, given
          if now < 0 then
            local time = redis.call('time')
            now = time[1] * 1000000 + time[2]
            read_now = now
          end
          local step = now - wall
          -- A step back of the server's clock, or something that has run out, is for the general
          -- path.
          if step < 0 or step >= left or not (seen <= MOST_FENCE_SEEN) then break end
          clock = clock + (step < bound and step or bound)
          if seen > fence then fence = seen end
        elseif who ~= owner then
          break
        end

        if operation == 2 and form == FIRST_VERSION then
          -- The last number that was granted is that of the only ticket.
          if number ~= last then break end
          if clock + term > till then till = clock + term end
          NOTE_HOLD{ recent, now - wall }
          held, top, members, digest, text, from, form, is_done =
            0, 0, 0, 0, '', 0, IDLE_VERSION, true
          break
        elseif form == FIRST_VERSION then
          text, from = pack(TICKET, last, held, term, wall, wall, 0, #text - FIRST_SIZE)
            .. sub(text, FIRST_SIZE + 1), 0
          form = LONE_VERSION
        end
        if operation < 3 and not held then
          local ranges
          uses, last, till, kind, limit, held, top, recent, ranges, size =
            read(LONE_MORE, text, LONE_MORE_AT)
          if ranges > 0 then
            free, from = sub(text, LONE_SIZE + 1, LONE_SIZE + 8 * ranges), LONE_SIZE + 8 * ranges
          end
        end

        if operation == 2 then
          if added then text, from, added = sub(text, from + 1) .. table.concat(added), 0, nil end
          local at, length = from + size + 1, #text
          while at <= length do
            local held_number, its_permits, its_ttl, since, _, first, its_size =
              read(TICKET, text, at)
            local after, last_slot = at + TICKET_SIZE + its_size, first + its_permits - 1
            if held_number == number then
              held, members, digest, is_done =
                held - its_permits, members - 1, (digest - mixed) % DIGESTS, true
              if clock + its_ttl > till then till = clock + its_ttl end
              NOTE_HOLD{ recent, now - since }
              if at == from + 1 then
                from = after - 1
              else
                text, from = sub(text, from + 1, at - 1) .. sub(text, after), 0
              end
              if held == 0 then
                top, free = 0, ''
              elseif last_slot + 1 == top then
                top = first
              else
                -- The range is joined with the free ranges that it touches.
                local place, its_first, its_last = 1, nil, nil
                while place < #free do
                  its_first, its_last = read('<I4I4', free, place)
                  if its_last + 1 >= first then break end
                  place = place + 8
                end
                local rest = place
                if place < #free and its_last + 1 == first then
                  first, rest = its_first, rest + 8
                  if rest < #free then its_first, its_last = read('<I4I4', free, rest) end
                end
                if rest < #free and its_first == last_slot + 1 then
                  last_slot, rest = its_last, rest + 8
                end
                free = sub(free, 1, place - 1) .. pack('<I4I4', first, last_slot) .. sub(free, rest)
                is_done = #free <= 8 * MOST_FREE
              end
              break
            end
            at = after
          end
          break
        end

        if not (ttl >= MIN_TTL and ttl <= MAX_TTL and margin <= UNBOUNDED) then break end
        if operation == 1 then
          if now > not_after or number <= last or permits < 1 then break end
          if held == 0 then
            if asked_limit > MOST_PERMITS then break end
            kind, limit, term, ends, ends_wall =
              asked_kind, asked_limit, ttl, clock + ttl, now + ttl
          elseif limit ~= asked_limit or kind ~= asked_kind then
            break
          end
          if permits > limit - held or members >= MOST_LONE or #text > LONGEST_LONE then break end
          local slot = held
          if held == top then
            top = held + permits
          else
            local low, high = read('<I4I4', free)
            if low + permits - 1 > high then break end
            slot, free = low, sub(free, 9)
            if low + permits <= high then free = pack('<I4I4', low + permits, high) .. free end
          end
          fence, last, about = fence < now and now or fence + 1, number, sub(line, ABOUT_AT)
          if clock + ttl > till then till = clock + ttl end
          -- The only request of a call, at a name that was idle, makes a value of the form FIRST.
          if i > 1 or ARGV[2] or held > 0 or fence ~= now or size > 0 then
            added, granted = added or {}, granted or { pack('<d', now) }
            added[#added + 1] =
              pack(TICKET_ABOUT, number, permits, ttl, now, fence, slot, #about, about)
            granted[#granted + 1] = pack('<dI4d', fence, slot, ends > clock and ends - clock or 0)
            about = nil
          end
          held, uses, members, digest = held + permits, uses < 255 and uses + 1 or uses,
            members + 1, (digest + mixed) % DIGESTS
        else
          -- A renewal says how many tickets it believes it renews, and their digest.
          if held == 0 or members ~= number or digest ~= mixed then break end
          -- The order lists the record under a lower bound of its end. That still holds, unless the
          -- lease ends earlier now.
          if form == CROWD_VERSION and now + ttl < ends_wall then break end
          term, ends, ends_wall = ttl, clock + ttl, now + ttl
        end
        if margin < bound then bound = margin end
        is_done = true
      until true
      if not is_done then break end
      i = i + 1
      line = ARGV[i]
    end
    -- A fence far ahead of the clock makes the keys live longer: the general path does that.
    if line or fence - now > HALF_DAY then break end
    -- With restart-guard: over.

    local need, most, milliseconds, value, apart
    -- A new string costs as much as it is long, so text is cut only if something went before it.
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
      value = pack(PACK_LONE, LONE_VERSION, owner, members, digest, clock, now, fence, bound,
        deadline, term, ends, ends_wall, uses, last, till, kind, limit, held, top, recent,
        #free / 8, size) .. free .. rest .. (added and table.concat(added) or '')
    else
      if form == LONE_VERSION and members > 1 and not is_apart then
        form, apart, text = APART_VERSION, sub(text, LONE_SIZE + 1), sub(text, 1, LONE_SIZE)
      end
      value = pack(PACK_RENEWED, form, owner, members, digest, clock, now, fence, bound, deadline,
        term, ends, ends_wall) .. sub(text, LONE_MORE_AT)
    end
    if type(apart and try('hset', KEYS[1], 'h', value, 'a', apart)
        or try('hset', KEYS[1], 'h', value)) == 'table' then
      break
    end
    if is_apart then try('hdel', KEYS[1], 'a') end
    if milliseconds then
      try('pexpire', KEYS[1], milliseconds)
      if ALWAYS_LISTED or form == CROWD_VERSION then try('pexpire', KEYS[2], milliseconds) end
    end
    return granted and table.concat(granted) or now
  until true
