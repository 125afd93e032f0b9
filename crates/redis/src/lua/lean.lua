-- lean: executes acquires, releases and renewals of the only session at a name with one read and
--   one write.
-- keys   records order
-- args   requests, in the forms PLAIN_* below
-- reply  now. If an acquire was not the only request, or got another fence than now or another slot
--        than the first: a string of now, and of fence slot valid_for for each acquire
-- cost   one TIME, one HGET, one HSET; PEXPIRE if the keys would expire too early; where tickets
--        stand apart, one HGET and one HDEL more, but for a renewal
--
-- The value has a form of forms in which head and record are one. A request or a state that is too
-- complicated for this path breaks out of the block before anything is written. Then line and
-- lean_renew try, and in the end lean_words writes the requests as words for the general path.
-- PLAIN_*: a request that is likely to be plain. First its kind (1 an acquire, 2 a release, 3 a
--   renewal, 4 a proof), now (below zero: take the server's clock), the fence seen, inbox and
--   series. Then of an acquire number digest permits limit kind ttl margin not_after, the fields
--   for lean_words, and about; of a release number digest; of a renewal ttl margin members digest;
--   of a proof, which renews one ticket, number ttl margin.

local ARGV = ARGV
local line = ARGV[1]
local operation = line and string.byte(line) or 32
is_packed = operation < 5
if is_packed then
  local PLAIN_ACQUIRE, PLAIN_RELEASE, PLAIN_RENEW = '<ddc56I4dI4I4Bddd', '<ddc56I4d', '<ddc56dddd'
  -- The other requests of a call start like the first one, and are read from TERMS_AT on.
  local NEXT_ACQUIRE, NEXT_RELEASE = '<I4dI4I4Bddd', '<I4d'
  -- All fields that follow the series in an acquire and in a renewal, as lean_words reads them.
  local ACQUIRE_WORDS, RENEW_WORDS = '<I4dI4I4c1dddc1di4dc32', '<dddd'
  -- The lengths of requests, the place in each after the series, and the place where about begins.
  local RELEASE_SIZE, RENEW_SIZE, PROOF_SIZE, TERMS_AT, ABOUT_AT = 85, 105, 93, 74, 172
  local TICKET_ABOUT, PACK_FIRST = '<I4I4dddI4Bc0', '<Bc56BI4ddddBI4I4ddddc0'
  local PACK_RENEWED, PACK_RENEWED_WHOLE = '<Bc56I4ddddddddd', '<Bc56I4dddddddddc0'
  -- The most tickets of a lone value, and the most bytes up to which it takes another one. In its
  -- first MOST_SHORT grants the keys are set to expire early whenever nobody holds, because such a
  -- name may not be used again.
  local MOST_LONE, LONGEST_LONE, MOST_SHORT = 80, 6144, 16
  local struct, string, redis, key = struct, string, redis, KEYS[1]
  local try, read, pack, byte, sub, find =
    redis.pcall, struct.unpack, struct.pack, string.byte, string.sub, string.find
  repeat
    local text = try('hget', key, 'h')
    head_text = text
    if not text or #text < IDLE_SIZE then break end
    -- The causes and tickets are the part of text after from, and then the additions of this call.
    -- held, top and free (the free slots below the top) stay nil until a request needs them.
    local form, uses, last, clock, wall, fence, deadline, till, size, kind, limit, held, bound,
      term, ends, ends_wall, members, digest, recent, left, from = byte(text)
    if form == LINE_VERSION then break end
    if form >= APART_VERSION and (ARGV[2] or operation ~= 3) then
      -- All requests but the renewal of a whole lease need the tickets.
      local apart = form == APART_VERSION and try('hget', key, 'a')
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
        and #text >= (form == CROWD_VERSION and LONE_SIZE + CROWD_SIZE or LONE_SIZE) then
      members, digest, clock, wall, fence, bound, deadline, term, ends, ends_wall =
        read(LONE, text, 58)
      left, from = ends - clock, LONE_SIZE
      if left > ends_wall - wall then left = ends_wall - wall end
    else
      break
    end
    -- There is seldom more than one free range. One range is from low to high, and several are the
    -- text free.
    local i, top, free, low, high, now, owner, given, start, granted, about, added, parts =
      1, held, ''
    while line do
      local is_done, seen, number, mixed, permits, asked_limit, asked_kind, ttl, margin, not_after
      repeat
        if now and find(line, start, 2, true) ~= 2 then break end
        if operation == 1 then
          if #line < ABOUT_AT - 1 or #line > ABOUT_AT + 254 then break end
          if now then
            number, mixed, permits, asked_limit, asked_kind, ttl, margin, not_after =
              read(NEXT_ACQUIRE, line, TERMS_AT)
          else
            given, seen, owner, number, mixed, permits, asked_limit, asked_kind, ttl, margin,
              not_after = read(PLAIN_ACQUIRE, line, 2)
          end
        elseif operation == 2 and #line >= RELEASE_SIZE then
          if now then
            number, mixed = read(NEXT_RELEASE, line, TERMS_AT)
          else
            given, seen, owner, number, mixed = read(PLAIN_RELEASE, line, 2)
          end
        elseif operation == 3 and #line >= RENEW_SIZE then
          given, seen, owner, ttl, margin, number, mixed = read(PLAIN_RENEW, line, 2)
        else
          break
        end
        if not now then
          if find(text, owner, 2, true) ~= 2 then break end
          now = given
          if now < 0 then
            local time = redis.call('time')
            now = time[1] * 1000000 + time[2]
            read_now = now
          end
          local step = now - wall
          -- The general path handles a step back of the server's clock, and the end of a lease.
          if step < 0 or step >= left or not (seen <= MOST_FENCE_SEEN) then break end
          clock = clock + (step < bound and step or bound)
          if seen > fence then fence = seen end
          start = ARGV[2] and sub(line, 2, TERMS_AT - 1)
        end

        if operation == 2 and form == FIRST_VERSION then
          -- The only ticket has the last number that was granted.
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
          from = LONE_SIZE + 8 * ranges
          if #text < from + size then break end
          if ranges == 1 then
            low, high = read('<I4I4', text, LONE_SIZE + 1)
          elseif ranges > 1 then
            free = sub(text, LONE_SIZE + 1, from)
          end
        end

        if operation == 2 then
          if added then text, from, added = sub(text, from + 1) .. table.concat(added), 0, nil end
          local at, length = from + size + 1, #text - TICKET_SIZE + 1
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
                top, free, low = 0, '', nil
              elseif last_slot + 1 == top then
                top = first
              elseif not low and free == '' then
                low, high = first, last_slot
              elseif low and high + 1 == first then
                high = last_slot
              else
                -- The range is joined with the free ranges that it touches.
                if low then free, low = pack('<I4I4', low, high), nil end
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
            local others = ''
            if not low then
              low, high = read('<I4I4', free)
              free, others = '', sub(free, 9)
            end
            if low + permits - 1 > high then break end
            slot, low = low, low + permits
            if low > high then low = nil end
            if others ~= '' then
              free, low = low and pack('<I4I4', low, high) .. others or others, nil
            end
          end
          fence, last, about = fence < now and now or fence + 1, number, sub(line, ABOUT_AT)
          if clock + ttl > till then till = clock + ttl end
          -- The only request of a call, at a name that was idle, makes a value of the form FIRST.
          if i > 1 or ARGV[2] or held > 0 or fence ~= now or size > 0 then
            -- Three parts of the value come before the added tickets.
            if not added then added, parts = { '', '', '' }, 3 end
            granted, parts = granted or { pack('<d', now) }, parts + 1
            added[parts] =
              pack(TICKET_ABOUT, number, permits, ttl, now, fence, slot, #about, about)
            granted[#granted + 1] = pack('<dI4d', fence, slot, ends > clock and ends - clock or 0)
            about = nil
          end
          held, uses, members, digest = held + permits, uses < 255 and uses + 1 or uses,
            members + 1, (digest + mixed) % DIGESTS
        else
          -- A renewal names the number of tickets that it expects to renew, and their digest.
          if held == 0 or members ~= number or digest ~= mixed then break end
          -- The order lists the record under a lower bound of its end. The bound stays correct,
          -- unless the lease ends earlier now.
          if form == CROWD_VERSION and now + ttl < ends_wall then break end
          term, ends, ends_wall = ttl, clock + ttl, now + ttl
        end
        if margin < bound then bound = margin end
        is_done = true
      until true
      if not is_done then break end
      i = i + 1
      line = ARGV[i]
      operation = line and byte(line)
    end
