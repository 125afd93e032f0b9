-- lean: acquires, releases and renewals of the only session at a name, done with one read and one write.
-- keys   records order
-- args   requests, as PLAIN_* say
-- reply  now; if there was an acquire a string instead: now, and of each acquire fence slot limit valid_for
-- cost   one TIME, one HGET, one HSET; PEXPIRE if the end is too near
--
-- Whatever is not as simple breaks out before anything is written. Then the requests are put as the rest expects them.

local ARGV = ARGV
is_packed = (string.byte(ARGV[1] or '') or 32) < 4
if is_packed then
  local try, read, pack, byte, sub, records = redis.pcall, struct.unpack, struct.pack, string.byte, string.sub, KEYS[1]
  repeat
    local text = try('hget', records, 'h')
    if type(text) ~= 'string' or #text < LONE_SIZE or byte(text) ~= LONE_VERSION then break end
    local _, uses, kind, limit, held, last, owner, clock, wall, bound, fence, due, deadline, till, term, ends, ends_wall, size =
      read(LONE, text)
    -- Causes and tickets; the head of the value is not needed any more.
    local rest = #text > LONE_SIZE and sub(text, LONE_SIZE + 1) or ''
    local i, line, now, given, granted, about = 1, ARGV[1], nil, nil, nil, nil
    while line do
      local is_done, operation, seen, who, number, is_own, asked_kind, permits, rule, asked_limit, ttl, margin, not_after = false
      repeat
        operation = byte(line)
        if operation == 1 then
          if #line < PLAIN_ABOUT - 1 or #line > PLAIN_ABOUT + 254 then break end
          _, given, seen, who, number, is_own, asked_kind, permits, rule, asked_limit, ttl, margin, not_after =
            read(PLAIN_ACQUIRE, line)
        elseif operation == 2 and #line == 85 then
          _, given, seen, who, number = read(PLAIN_RELEASE, line)
        elseif operation == 3 and #line == 113 and sub(line, PLAIN_BODY + 24, PLAIN_BODY + 31) == '00000000' then
          _, given, seen, who, ttl, margin, permits, number = read(PLAIN_RENEW, line)
        end
        if who ~= owner then break end
        if not now then
          now = given
          if now < 0 then
            local time = redis.call('time')
            now = time[1] * 1000000 + time[2]
            read_now = now
          end
          if now < wall or now >= due or not (seen <= MOST_FENCE_SEEN) then break end
          local step = now - wall
          clock = clock + (step < bound and step or bound)
          if seen > fence then fence = seen end
        end

        if operation == 2 then
          local at, length = size + 1, #rest
          while at <= length do
            local held_number, its_permits, its_ttl, _, _, its_slot, its_size = read(TICKET, rest, at)
            local after = at + TICKET_SIZE + its_size
            if held_number == number then
              -- Only from the top: else there is a hole.
              if its_slot + its_permits ~= held then break end
              held, is_done = its_slot, true
              if clock + its_ttl > till then till = clock + its_ttl end
              if at == 1 then rest = after > length and '' or sub(rest, after) else rest = sub(rest, 1, at - 1) .. sub(rest, after) end
              break
            end
            at = after
          end
          if not is_done then break end
          if held == 0 and due > now + till - clock then due = now + till - clock end
          break
        end

        if not (ttl >= MIN_TTL and ttl <= MAX_TTL and margin <= UNBOUNDED) then break end
        if operation == 1 then
          if is_own ~= 1 or now > not_after or number <= last or permits < 1 then break end
          if held == 0 then
            if asked_limit > MOST_PERMITS then break end
            kind, limit, term, ends, ends_wall = asked_kind, asked_limit, ttl, clock + ttl, now + ttl
          elseif kind ~= asked_kind or limit ~= asked_limit then
            break
          end
          if permits > limit - held or #rest > MOST_LONE then break end
          fence = fence < now and now or fence + 1
          last, about = number, sub(line, PLAIN_ABOUT)
          if clock + ttl > till then till = clock + ttl end
          rest = rest .. pack(TICKET, number, permits, ttl, now, fence, held, #about) .. about
          local valid = ends > clock and ends - clock or 0
          granted = granted and granted .. pack('<dI4I4d', fence, held, limit, valid) or pack('<ddI4I4d', now, fence, held, limit, valid)
          held, uses = held + permits, uses < 255 and uses + 1 or uses
        else
          -- A renewal of so many tickets with this digest.
          if held == 0 then break end
          local at, id, members, digest = size + 1, sub(owner, 33), 0, 0
          local salt = tonumber(sub(id, 19, 24), 16)
          while at <= #rest do
            local held_number, _, _, _, _, _, its_size = read(TICKET, rest, at)
            local mixed = (held_number * 69069 + salt) % 16777216
            members, digest, at = members + 1, digest + mixed * (mixed * mixed % 16777216), at + TICKET_SIZE + its_size
          end
          if members ~= permits or digest % DIGESTS ~= number then break end
          term, ends, ends_wall = ttl, clock + ttl, now + ttl
        end
        if margin < bound then bound = margin end
        if due > now + ends - clock then due = now + ends - clock end
        if due > ends_wall then due = ends_wall end
        is_done = true
      until true
      if not is_done then break end
      i = i + 1
      line = ARGV[i]
    end
    if line or fence - now > HALF_DAY then break end

    local need, most, milliseconds
    if held > 0 then
      need = term + HALF_DAY
      most = need + HALF_DAY
    else
      -- The clock may run freely. Only now: a margin of this call binds what else the call grants.
      bound = UNBOUNDED
      need = till - clock
      if need <= fence - now then need = fence - now + 1 end
      most = need + (given < 0 and SECOND or HALF_DAY)
    end
    local left = deadline - now
    if left < need or left > most and (held > 0 or uses < MOST_SHORT) then
      deadline, milliseconds = now + most, string.format('%d', most / 1000)
    end
    local value = pack(LONE, LONE_VERSION, uses, kind, limit, held, last, owner, clock, now, bound, fence, due, deadline, till, term,
      ends, ends_wall, size) .. rest
    if type(try('hset', records, 'h', value)) == 'table' then break end
    if milliseconds then
      try('pexpire', records, milliseconds)
      if ALWAYS_LISTED then try('pexpire', KEYS[2], milliseconds) end
    end
    return granted or now
  until true

  local first, format, lines = ARGV[1], string.format, {}
  if #first < 85 then return redis.error_reply('SEINPAALARGUMENT the request cannot be read') end
  local _, given, seen = read('<Bdd', first)
  lines[1], lines[2], lines[3] = given >= 0 and format('%.0f', given) or '', sub(first, 18, 49), format('%.0f', seen)
  for i, line in ipairs(ARGV) do
    local operation, ticket = byte(line), sub(line, PLAIN_BODY, PLAIN_BODY + 31)
    if operation == 1 then
      lines[i + 3] = 'acquire:' .. sub(line, PLAIN_BODY)
    elseif operation == 2 then
      lines[i + 3] = 'release ' .. ticket .. ' all'
    else
      lines[i + 3] = format('renew %s %.0f %.0f all %.0f %.0f', ticket, read('<dddd', line, PLAIN_BODY + 32))
    end
  end
  ARGV = lines
end
