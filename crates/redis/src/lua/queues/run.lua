-- Executes the requests in order, and answers. A push is done right here, in nearly all cases without any function; all
-- other requests are functions of the parts.
--
-- The answer is a text; or a list of that text and the payload of each job that is delivered.

-- Turns an error that a script or Redis raised into an answer. A script that was ended by an error cannot take back its
-- writes, and then the state may be torn.
local function refusal_of(raised)
  local text = type(raised) == 'table' and (raised.refusal or raised.err) or tostring(raised)
  text = string.gsub(text, '[\r\n]', ' ')
  if string.find(text, 'OOM', 1, true) then text = 'SEINPAALOOM the server has no memory left' end
  if string.find(text, 'WRONGTYPE', 1, true) then text = 'SEINPAALCORRUPT the key has another type' end
  if string.find(text, 'data string too short', 1, true) then text = 'SEINPAALCORRUPT a value ends too early' end
  if has_written then
    text = string.gsub(text, '^SEINPAAL%u+', 'SEINPAALTORN')
    if sub(text, 1, 8) ~= 'SEINPAAL' then text = 'SEINPAALTORN ' .. text end
  elseif sub(text, 1, 8) ~= 'SEINPAAL' then
    text = string.match(text, '^%-?(%u%u+ .*)$') or string.match(text, '%-(%u%u+ .*)$') or 'SEINPAALFAILED ' .. text
  end
  return text
end

-- Calls a function that may raise an error, unless there was one.
local refusal
local function try(f, ...)
  if refusal then return end
  local ok, answer, kept = pcall(f, ...)
  if ok then return answer, kept end
  refusal = refusal_of(answer)
end

if due <= steady then
  try(L.expire)
  try(L.take_due)
end
if reopen then try(L.reopen_groups) end

-- Each call of a session is executed once. One that arrives again gets the answers that it got before, even after the
-- deadline, because answering again changes nothing. One that a later call has overtaken is refused, and so is one that
-- arrives too late to be known.
local is_repeated = number > 0 and session and number == last_call
local is_late = number > 0 and not is_repeated and (number < last_call or now > not_after)
local answers, kept, pushed, at = '', '', 0, first_request
while at <= #argument and not refusal do
  local code, size, body = read('<BI2', argument, at)
  local answer, its_kept
  at = body + size
  if is_repeated then
    -- Each answer is kept behind its code. Reads are executed again, which does no harm.
    local kind, from = byte(session, kept_at) or 18, kept_at
    kept_at = from + (kind < 3 and 9 or kind == 3 and 2 + 16 * byte(session, from + 1)
      or kind == 4 and 11 + 16 * read('<I2', session, from + 9) or kind == 10 and 2 or kind == 14 and 6
      or kind == 15 and 9 or 1)
    if code < 13 then answer = sub(session, from, kept_at - 1) end
    if kind == 3 then answer = try(L.deliver_again, sub(answer, 3)) end
  elseif is_late then
    answer = '\18'
  end
  if answer then
    -- Nothing is to be done.
  elseif code == 1 then
    local priority, most, how, when, window, group_size, key_size, after = 0, 0, 0, 0, 0, 0, 0, body
    if size > 25 then
      priority, most, how, when, window, group_size, key_size, after = read('<bI4BddI2I2', argument, body)
    end
    local payload, key_at, about_at = ARGV[2 + pushed], after + group_size, after + group_size + key_size
    if not payload or #payload > 1048576 or most < 1 or most > 1000000 or priority < -100 or priority > 100
        or not (when >= 0 and window >= 0 and window <= 604800000000) or group_size > 512 or key_size > 512
        or about_at > at or at - about_at > 4096 then
      refusal = 'SEINPAALARGUMENT a push'
      break
    end
    pushed = pushed + 1
    local its_key, till = sub(argument, key_at, about_at - 1), nil
    if key_size > 0 then
      local known = fields['k' .. its_key]
      if known == nil then known = call('hget', key, 'k' .. its_key) end
      till = known and read('<d', known)
      if till and till > now then answer = '\2' .. sub(known, 9) end
    end
    if not answer then
      -- Numbers of jobs and fences grow strictly. They follow the clock, so they also grow after a loss of memory.
      last = last < now and now or last + 1
      local id, rank, state = pack('>I8', last), last - priority * 60000000, 'r'
      if key_size > 0 and window > 0 then
        if till then place('t' .. pack('>I8', till) .. its_key, false) else keys = keys + 1 end
        till = now + window
        place('t' .. pack('>I8', till) .. its_key, true)
        fields['k' .. its_key] = pack('<d', till) .. id
        forget_at, memory = min(forget_at, till), max(memory, till)
      end
      if how == 1 then when = now + when end
      if how > 0 and when > now then
        state, when, delayed = 'd', min(when, 2 ^ 53), delayed + 1
        due = min(due, when + shift)
        place('d' .. pack('>I8', when) .. id, true)
      else
        when = 0
        local where = pack('>I8', rank + 10000000000) .. id
        if group_size > 0 then
          try(L.make_ready, sub(argument, after, key_at - 1), where)
        else
          ready, open = ready + 1, open + 1
          place('o' .. where, true)
        end
      end
      fields['i' .. id] = pack(JOB, state, priority, most, 0, #payload, now, rank, when, group_size, key_size,
        at - about_at) .. sub(argument, after, at - 1)
      fields['p' .. id] = payload
      answer = '\1' .. id
    end
  elseif L[code] then
    answer, its_kept = try(L[code], body, at - 1)
  else
    refusal = 'SEINPAALARGUMENT no such request'
  end
  answers, kept = answers .. (answer or ''), kept .. (its_kept or answer or '')
end

if number > 0 and not is_repeated and not is_late then
  if not session then sessions = sessions + 1 end
  if listed == 0 or not_after < listed then
    if listed > 0 then place('s' .. pack('>I8', listed) .. asker, false) end
    place('s' .. pack('>I8', not_after) .. asker, true)
    listed = not_after
  end
  forget_at, memory = min(forget_at, listed), max(memory, not_after)
  fields['s' .. asker] = pack(SESSION, number, not_after, listed, options % 2 == 1 and 0 or now + 2000000) .. kept
end

local look = -1
if idle + called > 0 then look = try(L.serve_workers) else watch = NOBODY end
if L.forget and forget_at <= now then try(L.forget, 4 + requests) end
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

-- What a call has done before an error stays, so that the totals have to follow.
if is_blank and not refusal then
  if not is_new or has_written then call('unlink', key, order) end
elseif not refusal or has_written then
  if is_new and is_sharded then fields.n = call('cluster', 'myid') .. ' 0' end
  fields.h = pack(HEAD, VERSION, (is_paused and 1 or 0) + (reopen and 2 or 0), limit, group_limit, ready, open, delayed,
    active, dead, idle, called, wanted, sessions, keys, clock, now, shift, bound, last, due, forget_at, memory, deadline,
    watch_at, watch) .. (reopen or '')
  local ok, raised = pcall(flush)
  if not ok then refusal = refusal_of(raised) end
  for i = 1, expires and not refusal and 2 or 0 do
    if milliseconds then call('pexpire', KEYS[i], milliseconds) else call('persist', KEYS[i]) end
  end
end
if refusal then return redis.error_reply(refusal) end
if #notifications > 0 then L.publish() end
answers = pack('<dBd', now, has_backlog and 1 or 0, look) .. answers
if #payloads == 0 then return answers end
return { answers, unpack(payloads) }
