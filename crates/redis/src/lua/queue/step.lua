-- step: ends every script of queues: executes the requests in order, writes, wakes and answers.
-- keys   records order
-- args   START and the requests
-- reply  done now backlog look_in, and one answer a request
-- error  SEINPAALCORRUPT SEINPAALTORN SEINPAALARGUMENT SEINPAALOOM SEINPAALFAILED
-- cost   one HMGET, HSET, ZADD; HDEL and ZREM if something ends; one PUBLISH for each wakeup;
--        PERSIST or PEXPIRE of both keys when the queue gets its first item or loses its last
--
-- Each request is read before anything is written, so that a mistake in any request is answered
-- first. Reading gives a function that executes the request. That function gives the answer, and
-- also what is kept of the answer if that differs.

local MOST_REQUESTS = 64
local READS = { inspect = true, list = true }
local GROWS = { push = true, configure = true }

function ledger.read_requests()
  local requests, at = {}, START_BYTES + 1
  ledger.may_grow = at <= #line
  while at <= #line do
    local reader = ledger.readers[byte(line, at)]
      or ledger.refuse('SEINPAALARGUMENT', 'no such request')
    local execute, next_at, operation = reader(at)
    requests[#requests + 1], at = { execute = execute, reads = READS[operation] }, next_at
    ledger.may_grow = ledger.may_grow and GROWS[operation]
  end
  if #requests > MOST_REQUESTS then ledger.refuse('SEINPAALARGUMENT', 'too many requests') end
  return requests
end

function ledger.start()
  ledger.read_head()
  advance_clock(head)
  head.last = max(head.last, min(seen, MOST_SEEN))
  ledger.expire_by_clock()
  ledger.expire_by_wall()
  ledger.take_due()
  ledger.reopen()
end

-- Each batch of a session is executed once. A batch that arrives again is answered as before. A
-- batch that a later batch has overtaken is refused. So is a batch that arrives so late that it may
-- have been forgotten.
function ledger.first_time(known, requests)
  local answer, lines = { '' }, {}
  for i, request in ipairs(requests) do
    local reply, kept = request.execute()
    answer[i + 1], lines[i] = reply, kept or reply
  end
  if number > 0 then ledger.put_session(known, number, not_after, concat(lines, '\n')) end
  return answer
end

-- Gives the kept answers as lines. The straight path has packed its answers.
function ledger.lines_of(kept)
  local lines, at, kind = {}, 1, byte(kept)
  while kind and kind <= RENEW do
    local _, first, pushed, ttl, entries
    if kind == PUSH then
      _, first, pushed, at = read(KEPT_PUSHED, kept, at)
      for item = first, first + pushed - 1 do lines[#lines + 1] = format('pushed %d', item) end
    elseif kind == DONE then
      lines[#lines + 1], at = format('acknowledged %d', read(NUMBER, kept, at + 1)),
        at + 1 + LISTED_BYTES
    elseif kind == RENEW then
      _, ttl, at = read(KEPT_RENEWED, kept, at)
      lines[#lines + 1] = format('renewed %d ', ttl)
    else
      local items = {}
      _, entries, at = read(KEPT_POPPED, kept, at)
      for place = 1, #entries, LISTED_BYTES do
        items[#items + 1] = format('%d:%d', read(DELIVERY, entries, place))
      end
      lines[#lines + 1] = 'popped ' .. concat(items, ',')
    end
    kind = byte(kept, at)
  end
  return at > 1 and concat(lines, '\n') or kept
end

function ledger.repeat_answers(known, requests)
  local answer, i = { '' }, 1
  for line in string.gmatch(ledger.lines_of(known.lines) .. '\n', '([^\n]*)\n') do
    if not requests[i] then break end
    if requests[i].reads then
      answer[i + 1] = (requests[i].execute())
    elseif sub(line, 1, 7) == 'popped ' then
      answer[i + 1] = (ledger.deliver_again(line))
    else
      answer[i + 1] = line
    end
    i = i + 1
  end
  return answer
end

function ledger.too_late(requests)
  local answer = { '' }
  for i in ipairs(requests) do answer[i + 1] = 'late' end
  return answer
end

function ledger.answers(requests)
  if number == 0 then return ledger.first_time(nil, requests) end
  local known = ledger.session_of(asker)
  if known and number == known.number then return ledger.repeat_answers(known, requests) end
  if (known and number < known.number) or now > not_after then return ledger.too_late(requests) end
  return ledger.first_time(known, requests)
end

-- The end.

function ledger.is_blank()
  local counted = head.ready + head.delayed + head.in_work + head.dead + head.idle + head.called
    + head.sessions + head.keys
  return counted == 0 and not head.limit and not head.group_limit and not head.paused
end

-- Gives for how long the head must outlive everything else because its last number is ahead of the
-- clock. A queue that was forgotten earlier could give that number again.
function ledger.owed()
  local ahead = head.last - now
  return ahead >= 0 and ahead <= HALF_DAY + HALF_DAY and ahead + 1 or 0
end

function ledger.rest()
  if head.in_work == 0 then
    head.bound, head.first_end, head.first_wall = UNBOUNDED, UNBOUNDED, UNBOUNDED
  end
  if head.delayed == 0 then head.first_due = UNBOUNDED end
  if head.sessions == 0 then head.first_session = UNBOUNDED end
  if head.keys == 0 then head.first_key = UNBOUNDED end
end

-- Decides how the expiry of the keys changes. Items and settings never expire. A queue that has
-- only memories expires a little after they would be forgotten, and not before the clock has passed
-- the last number.
function ledger.deadline()
  local items = head.ready + head.delayed + head.in_work + head.dead
  if items > 0 or head.limit or head.group_limit or head.paused then
    local had_deadline = head.deadline > 0
    head.deadline = 0
    return had_deadline and 'persist'
  end
  local need = max(head.memory - now, ledger.owed())
  local left = head.deadline - now
  if head.deadline > 0 and left >= need and left <= need + PLACE_TTL then return nil end
  local most = need + (given_now < 0 and PLACE_TTL / 2 or HALF_DAY)
  head.deadline = now + most
  return 'pexpire', format('%d', floor(most / 1000))
end

function ledger.keep()
  local command, milliseconds = ledger.deadline()
  ledger.flush(true)
  for _, key in ipairs(command and KEYS or {}) do
    if milliseconds then call(command, key, milliseconds) else call(command, key) end
  end
end

function ledger.finish(replies)
  ledger.end_places()
  ledger.call_workers()
  local look = ledger.tell_watch()
  ledger.forget_sessions(FORGET + replies)
  ledger.forget_keys(FORGET + replies)
  ledger.rest()
  -- A queue that was not there has given no number: the highest number that a client has seen is
  -- only a hint.
  if not ledger.is_blank() or (not ledger.is_new and ledger.owed() > 0) then
    ledger.keep()
  elseif not ledger.is_fresh or ledger.has_written then
    call('unlink', records, order)
  end
  for _, wakeup in ipairs(ledger.wakeups) do
    try(PUBLISH, ledger.channel_of(wakeup.inbox), wakeup.what .. ' ' .. records)
  end
  return format('done %d %s %s', now, ledger.has_backlog and '1' or '0', look)
end

function ledger.run()
  if not match(asker, '^%x+$') or #asker ~= 32 then
    ledger.refuse('SEINPAALARGUMENT', 'the session')
  end
  for _, sent in ipairs({ number, not_after, seen }) do
    if not (sent >= 0 and sent <= UNBOUNDED) then
      ledger.refuse('SEINPAALARGUMENT', 'the number, the deadline or the number seen')
    end
  end
  ledger.moment(now, 'now')
  local requests = ledger.read_requests()
  ledger.start()
  local answer = ledger.answers(requests)
  answer[1] = ledger.finish(#answer - 1)
  return answer
end

local ok, answer = pcall(ledger.run)
if ok then return answer end
return redis.error_reply(ledger.refusal_of(answer))
end

return rest()
