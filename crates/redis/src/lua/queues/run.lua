-- Executes the requests in order, and answers. Push, pop and acknowledge are done right here, and need functions only where
-- a job has a group. All other requests are functions of the parts.
--
-- The answer is a text; or a list of that text and the payload of each job that is delivered.

if due <= steady then
  L.try(L.expire)
  L.try(L.take_due)
end
if reopen then L.try(L.reopen_groups) end

-- Each call of a session is executed once. One that arrives again gets the answers that it got before, even after the
-- deadline, because answering again changes nothing. One that a later call has overtaken is refused, and so is one that
-- arrives too late to be known.
local is_late = number > 0 and not is_repeated and (number < last_call or now > not_after)
local answers, kept, pushed, at = '', '', 0, first_request
while at <= #argument and not refusal do
  local code, low, high = byte(argument, at, at + 2)
  local size, body, answer, its_kept = low + 256 * high, at + 3, nil, nil
  at = body + size
  if is_repeated then
    -- Of a pop only IDs and fences are kept. Reads are executed again, which does no harm.
    local kind, from = byte(session, kept_at) or 18, kept_at
    kept_at = from + (kind < 3 and 9 or kind == 3 and 2 + 16 * byte(session, from + 1)
      or kind == 4 and 11 + 16 * read('<I2', session, from + 9) or kind == 10 and 2 or kind == 14 and 6
      or kind == 15 and 9 or 1)
    if code < 13 then answer = sub(session, from, kept_at - 1) end
    if kind == 3 then answer = L.try(L.deliver_again, sub(answer, 3)) end
  elseif is_late then
    answer = '\18'
  end

  if answer then
    -- Nothing is to be done.
  elseif code == 1 and size > 25 then
    -- Push.
    local priority, most, how, when, window, group_size, key_size, after = read('<bI4BddI2I2', argument, body)
    local payload, key_at, about_at = ARGV[2 + pushed], after + group_size, after + group_size + key_size
    if not payload or #payload > 1048576 or most < 1 or most > 1000000 or priority < -100 or priority > 100
        or not (when >= 0 and window >= 0 and window <= 604800000000) or group_size > 512 or key_size > 512
        or about_at > at or at - about_at > 4096 or (group_size > 0) ~= (how % 8 > 3) or (key_size > 0) ~= (how > 7) then
      refusal = 'SEINPAALARGUMENT a push'
      break
    end
    pushed = pushed + 1
    local its_key = how > 7 and sub(argument, key_at, about_at - 1)
    local twin = its_key and L.try(L.pushed_with, its_key)
    if twin then
      answer = '\2' .. twin
    else
      -- Numbers of jobs and fences grow strictly. They follow the clock, so they also grow after a loss of memory.
      last = last < now and now or last + 1
      local id, rank, state = pack('>I8', last), last - priority * 60000000, 'r'
      if its_key and window > 0 then L.try(L.remember_key, its_key, window, id) end
      if how % 4 == 1 then when = now + when end
      if how % 4 > 0 and when > now then
        state, when, delayed = 'd', min(when, 2 ^ 53), delayed + 1
        due = min(due, when + shift)
        add[#add + 1], add[#add + 2] = '0', pack('>c1I8c8', 'd', when, id)
        if changed then changed[100] = true end
      else
        local n = #add
        when, ready = 0, ready + 1
        if group_size > 0 then
          L.try(L.enter_group, sub(argument, after, key_at - 1), pack('>I8', rank + 10000000000) .. id)
        else
          open = open + 1
          add[n + 1], add[n + 2] = '0', pack('>c1I8c8', 'a', rank + 10000000000, id)
          if changed then changed[97] = true end
        end
      end
      local n = #set
      set[n + 1], set[n + 2] = 'i' .. id, pack(JOB, state, priority, most, 0, #payload, now, rank, when, group_size,
        key_size, at - about_at) .. sub(argument, after, at - 1)
      set[n + 3], set[n + 4] = 'p' .. id, payload
      answer = '\1' .. id
    end
  elseif code == 2 and size > 17 then
    -- Pop.
    local most, ttl, margin, want, about_at = read('<BddB', argument, body)
    if most < 1 or most > 64 or not (ttl >= 100000 and ttl <= 86400000000 and margin >= 0) or at - about_at > 4096 then
      refusal = 'SEINPAALARGUMENT a pop'
      break
    end
    if idle + called > 0 then L.try(L.leave_line) end
    local count, told, deliveries, page, place = 0, '', '', nil, 1
    payloads = payloads or {}
    while count < most and open > 0 and active < limit and not is_paused and not refusal do
      if not page or not page[place] then
        if page or pops > 1 or changed and changed[97] then L.try(L.flush) end
        -- Open jobs are the first members of all.
        page, place = call('zrange', order, '0', format('%d', min(most - count, open) - 1)), 1
      end
      local member = page[place] or ''
      local id = sub(member, 10)
      local found = call('hmget', key, 'i' .. id, 'p' .. id)
      local job, payload = found[1], found[2]
      if byte(member) ~= 97 or not payload or not job or #job < JOB_SIZE then
        local number = #id == 8 and read('>I8', id) or 0
        refusal = format('SEINPAALCORRUPT job %.0f or its payload is not there: cancel it', number)
        break
      end
      -- The first job goes out however long it is. Otherwise it would be the first for ever.
      if count > 0 and #payload > room then break end
      local _, priority, most_attempts, attempts, _, since, _, _, group_size, key_size, about_size, from = read(JOB, job)
      local group, is_taken = sub(job, from, from + group_size - 1), true
      if group_size > 0 then is_taken = L.try(L.take_open, group) end
      if is_taken then
        last = last < now and now or last + 1
        local fence, n = pack('>I8', last), #set
        set[n + 1], set[n + 2] = 'a' .. id, pack(ATTEMPT, fence, asker, now, ttl, clock + ttl, now + ttl, steady + ttl,
          group_size) .. group .. sub(argument, about_at, at - 1)
        local m = #add
        add[m + 1], add[m + 2] = '0', pack('>c1I8c8', 'e', steady + ttl, id)
        if changed then changed[101] = true end
        remove[#remove + 1] = member
        active, ready, open, room = active + 1, ready - 1, open - 1, room - #payload
        count, deliveries, payloads[#payloads + 1] = count + 1, deliveries .. id .. fence, payload
        from = from + group_size + key_size
        told = told .. pack(DELIVERY, id, fence, attempts + 1, most_attempts, priority, since, group_size, about_size)
          .. group .. sub(job, from, from + about_size - 1)
        if steady + ttl < due then due = steady + ttl end
        if margin < bound then bound = margin end
      elseif is_taken == nil then
        break
      end
      place = place + 1
      -- Another job of the group may be open now.
      if changed and changed[97] then page = nil end
    end
    if want % 2 == 1 and count < most and not refusal then L.try(L.stand_in_line, most - count, want < 2 and 1 or 0) end
    answer = pack(POPPED, 3, count > 0 and ttl or 0, ready + delayed + active, count) .. told
    its_kept = '\3' .. string.char(count) .. deliveries
  elseif code == 3 and size == 16 then
    -- Acknowledge.
    local id, fence = read('c8c8', argument, body)
    local it = fields['a' .. id]
    if it == nil then it = call('hget', key, 'a' .. id) end
    answer = '\8'
    if it and sub(it, 1, 8) == fence then
      local its_bound, group_size, from = read('<dI2', it, 57)
      active, answer = active - 1, '\5'
      remove[#remove + 1] = pack('>c1I8c8', 'e', its_bound, id)
      if changed then changed[101] = true end
      gone = gone or {}
      gone[#gone + 1], gone[#gone + 2] = 'i' .. id, 'p' .. id
      fields['a' .. id] = false
      if group_size > 0 then L.try(L.leave_group, sub(it, from, from + group_size - 1)) end
    end
  elseif L and L[code] then
    -- Jobs that were pushed or acknowledged just now are in lists that nobody reads.
    if code > 7 and (set[1] or gone) then L.try(L.flush) end
    answer, its_kept = L.try(L[code], body, at - 1)
  else
    refusal = 'SEINPAALARGUMENT no such request'
  end
  answers, kept = answers .. (answer or ''), kept .. (its_kept or answer or '')
end

if number > 0 and not is_repeated and not is_late then
  if not session then sessions = sessions + 1 end
  if listed == 0 or not_after < listed then
    if listed > 0 then remove[#remove + 1] = 's' .. pack('>I8', listed) .. asker end
    listed = not_after
    add[#add + 1], add[#add + 2] = '0', 's' .. pack('>I8', listed) .. asker
  end
  if listed < forget_at then forget_at = listed end
  if not_after > memory then memory = not_after end
  local n = #set
  set[n + 1], set[n + 2] = own, pack(SESSION, number, not_after, listed) .. kept
end

local look = -1
if idle + called > 0 then look = L.try(L.serve_workers) else watch = NOBODY end
if L and forget_at <= now then L.try(L.forget, 4 + requests) end
if active == 0 then bound = 2 ^ 53 end

-- Jobs and settings never expire. A queue that has only memories outlives them by half a day or more, so that no smaller
-- step of the clock ends one; and it stays until the clock has passed the last number. A new queue has given none: the
-- number that a client has seen is only a hint.
local expires, milliseconds, is_blank
if ready + delayed + active + dead > 0 or is_paused or limit < NONE or group_limit < NONE then
  expires, deadline = deadline > 0, 0
else
  local ahead = last - now
  local owed = not is_new and ahead >= 0 and ahead <= 86400000000 and ahead + 1 or 0
  local need, left = max(memory - now, owed), deadline - now
  is_blank = idle + called + sessions + keys + owed == 0
  if deadline == 0 or left < need or left > need + 43200000000 then
    deadline = now + need + 43200000000
    expires, milliseconds = true, format('%d', math.floor((need + 43200000000) / 1000))
  end
end

if is_blank and not refusal then
  if not is_new or has_written then call('unlink', key, order) end
elseif not refusal or has_written then
  -- What a call has done before an error stays, so that the header has to follow.
  if L and L.home then fields.m = L.home end
  if is_new and is_sharded then fields.m = call('cluster', 'myid') .. ' 0' end
  local n, rare = #set, ''
  flags = (is_paused and 1 or 0) + (reopen and 2 or 0)
  if reopen or groups + idle + called + keys + shift > 0 or group_limit < NONE then
    flags = flags + 4
    rare = pack(RARE, group_limit, groups, idle, called, wanted, keys, shift, watch_at, watch) .. (reopen or '')
  end
  set[n + 1], set[n + 2] = 'h', pack(HEAD, VERSION, flags, limit, ready, open, delayed, active, dead, sessions, clock, now,
    bound, last, due, forget_at, memory, deadline) .. rare
  refusal = refusal or write(grows, set, add, remove, gone, fields, members)
  for i = 1, expires and not refusal and 2 or 0 do
    if milliseconds then call('pexpire', KEYS[i], milliseconds) else call('persist', KEYS[i]) end
  end
end
if refusal then
  if not L then
    L = {}
    add_common(L)
  end
  return redis.error_reply(L.refusal_of(refusal, has_written))
end
if notifications and notifications[1] then L.publish() end
answers = pack('<dBd', now, has_backlog and 1 or 0, look) .. answers
if not payloads or not payloads[1] then return answers end
return { answers, (unpack or table.unpack)(payloads) }
