-- lean_renew: renews a whole lease at a name with rows where nobody waits, from the two texts of
--   head and record.
-- keys   records order
-- args   one renewal, as lean has it
-- reply  now
-- cost   one TIME, two HGET, one HSET; if the name is wide, once a ttl one ZRANGEBYLEX, ZREM and
--        ZADD; PEXPIRE if the keys would expire too early; where nobody else holds, one HDEL
--
-- Lean has read the head. Where nobody else holds or is remembered, head and record become one
-- value (CROWD), which lean renews from then on. Any other case breaks out before anything is
-- written.

  repeat
    local line, text = ARGV[1], head_text
    if byte(line) ~= 3 or ARGV[2] or #line < RENEW_SIZE or type(text) ~= 'string' then break end
    if #text < HEAD_SIZE or byte(text) ~= VERSION then break end
    local given, seen, asker, series, new_ttl, margin, count, sum = read('<ddc32c24dddd', line, 2)
    if not (new_ttl >= MIN_TTL and new_ttl <= MAX_TTL and margin <= UNBOUNDED
        and seen <= MOST_FENCE_SEEN) then
      break
    end
    local version, FIELDS_OF_HEAD, ranges = read(HEAD, text)
    if #text ~= HEAD_SIZE + 8 * ranges or flags > 7 or flags % 2 == 1 or waiting > 0 then break end
    if (pinned >= 0 and deadline > 0) or (flags >= 4 and top == held) then break end
    local field = 'r' .. series .. '00000000'
    local record = try('hget', key, field)
    if type(record) ~= 'string' or #record < RECORD_SIZE then break end
    local what, last, till, open, _, ends, ends_wall, members, digest, parked, inbox, listed, size =
      read(RECORD, record)
    if what < 2 or (what == 3 and open == 0) or members ~= count or digest ~= sum or parked > 0 then
      break
    end
    if inbox ~= asker then break end
    local now = given
    if now < 0 then
      local time = redis.call('time')
      now = time[1] * 1000000 + time[2]
      read_now = now
    end
    local step, is_wide, was_listed = now > wall and now - wall or 0, flags % 4 >= 2, nil
    clock, wall, passed = clock + (step < bound and step or bound), now, passed + step
    local ending = passed + new_ttl
    if is_wide and (ending < listed or listed == 0) then break end
    if passed >= due then
      -- Only this record can have reached the bound in the head, and it has not ended.
      local first = is_wide and ends > clock and ends_wall > now
        and try('zrangebylex', KEYS[2], '[e', '(f', 'limit', '0', '2')
      if not first or first[1] ~= pack(MEMBER, 'e', listed, sub(field, 2)) then break end
      due = UNBOUNDED
      if first[2] then _, due = read(MEMBER, first[2]) end
      if due <= passed then break end
      was_listed, listed = first[1], ending
    end
    if ending < due then due = ending end
    if margin < bound then bound = margin end
    if seen > fence then fence = seen end
    if new_ttl > longest then longest = new_ttl end

    local milliseconds
    if pinned < 0 then
      local need, ahead, left = longest + HALF_DAY, fence - now, deadline - now
      if ahead >= need and ahead <= HALF_DAY + HALF_DAY then need = ahead + 1 end
      if deadline <= 0 or left < need or left > need + HALF_DAY then
        deadline = now + need + HALF_DAY
        milliseconds = string.format('%d', (need + HALF_DAY) / 1000)
      end
    end
    local value, other, row
    if past == 1 and open == members and pinned < 0 and stated >= 0 and size < 256 then
      -- The only session here gets one value with all fields that a renewal changes.
      value = pack(PACK_RENEWED, CROWD_VERSION, asker .. series, members, digest,
        clock, now, fence, bound, deadline, new_ttl, clock + new_ttl, now + new_ttl)
        .. pack(LONE_MORE, 0, last, till, byte(kind), stated, held, top, recent, ranges, size)
        .. pack(CROWD, flags, rows, listed, passed - now)
      other, row = 'a', sub(text, HEAD_SIZE + 1) .. sub(record, RECORD_SIZE + 1)
    else
      value = pack(HEAD, version, FIELDS_OF_HEAD, ranges) .. sub(text, HEAD_SIZE + 1)
      other, row = field, pack(RECORD, what, last, till, open, new_ttl, clock + new_ttl,
        now + new_ttl, members, digest, parked, inbox, listed, size) .. sub(record, RECORD_SIZE + 1)
    end
    local failed = try('hset', key, 'h', value, other, row)
    if type(failed) == 'table' then break end
    if other == 'a' then try('hdel', key, field) end
    if was_listed then
      failed = try('zrem', KEYS[2], was_listed)
      if type(failed) ~= 'table' then
        failed = try('zadd', KEYS[2], '0', pack(MEMBER, 'e', listed, sub(field, 2)))
      end
      if type(failed) == 'table' then
        return redis.error_reply('SEINPAALTORN ' .. string.gsub(failed.err, '[\r\n]', ' '))
      end
    end
    if milliseconds then
      try('pexpire', key, milliseconds)
      if ALWAYS_LISTED or flags > 0 then try('pexpire', KEYS[2], milliseconds) end
    end
    return now
  until true
