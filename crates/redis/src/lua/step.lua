-- step: ends every script of names: executes the requests in order, writes, wakes and answers.
-- keys   records order
-- args   now inbox fence_seen request...
-- reply  done now backlog look_in, and one answer a request
-- error  SEINPAALCORRUPT SEINPAALTORN SEINPAALARGUMENT SEINPAALOOM SEINPAALFAILED
-- cost   one HSET, one ZADD, one PUBLISH for each wakeup; one PEXPIRE for each key that would
--        expire too early
--
-- A request is its operation, a space and the operation's arguments. A script has the operations of
-- the pieces before this one: one, or all. Each reads its arguments first and gives a function that
-- executes it, so that a mistake in the arguments of any request is answered before anything is
-- written.

local MOST_REQUESTS = ledger.most_requests or 64
local growing = ledger.growing or { acquire = true, wish = true, configure = true }

function ledger.grows()
  for i = 4, #ARGV do
    local operation = match(ARGV[i], '^%a+')
    if not growing[operation] then return false end
  end
  return #ARGV > 3
end

function ledger.look_in()
  if asker == '' or head.waiting == 0 then return '-' end
  local waiter = ledger.first_waiter()
  if not waiter or waiter.inbox ~= asker then return '-' end
  local most = guarded_for > 0 and min(head.bound, guarded_for) or head.bound
  return format('%d', max(ledger.first_end(most) - head.clock, 1))
end

function ledger.is_blank()
  return head.holders + head.waiting + head.past == 0 and not head.pinned and not head.paused
end

-- Prepares the name for a time without holders and waiters: the ledger's clock may run freely, and
-- slots start from the bottom again.
function ledger.rest()
  head.bound, head.longest = UNBOUNDED, 0
  ledger.drop_terms()
  if head.top > 0 then
    head.top = 0
    ledger.clear_free_slots()
  end
  if head.wide and head.rows <= MOST_ROWS / 2 then ledger.narrow() end
end

-- Takes the rows out of the order, because they are so few that reading all of them is cheap.
function ledger.narrow()
  ledger.flush()
  ledger.load_all()
  call('unlink', order)
  head.wide, ledger.has_written, ledger.has_removed = false, true, true
  if ALWAYS_LISTED then ledger.placed.z = true end
  for _, record in pairs(ledger.records) do
    record.listed, record.by_due = nil, nil
    if record.is_kept then ledger.touch(record) end
  end
end

-- A key of the order that was made anew, or that a removal emptied meanwhile, has no expiry yet.
function ledger.expire_keys(milliseconds)
  local has_order = ledger.has_order()
  if milliseconds then call('pexpire', records, milliseconds) end
  if has_order and head.deadline > 0
      and (milliseconds or not ledger.had_order or ledger.has_removed) then
    call('pexpire', order,
      milliseconds or format('%d', max(floor((head.deadline - now) / 1000), 1)))
  end
end

function ledger.keep(is_idle)
  if head.past == 0 then head.memory = 0 end
  if head.pinned or head.paused then
    local had_deadline = head.deadline > 0
    head.deadline = 0
    ledger.flush(true)
    if had_deadline then
      call('persist', records)
      call('persist', order)
    end
    return
  end
  local milliseconds = set_deadline(head, is_idle)
  ledger.flush(true)
  ledger.expire_keys(milliseconds)
end

function ledger.finish()
  -- Forgetting comes last, so that it never takes a waiter's share of the work.
  ledger.forget()
  local look = ledger.look_in()
  local is_idle = head.holders == 0 and head.waiting == 0
  if is_idle then ledger.rest() end
  ledger.sharpen()
  if ledger.is_blank() and (ledger.is_fresh or owed(head) == 0) then
    if not ledger.is_fresh or ledger.has_written then call('unlink', records, order) end
  else
    ledger.keep(is_idle)
  end
  for _, wakeup in ipairs(ledger.wakeups) do
    try(PUBLISH, ledger.channel_of(wakeup.inbox), wakeup.what .. ' ' .. records)
  end
  return format('done %d %s %s', now, ledger.has_backlog and '1' or '0', look)
end

function ledger.run()
  if #ARGV - 3 > MOST_REQUESTS then ledger.refuse('SEINPAALARGUMENT', 'too many requests') end
  local requests = {}
  for i = 4, #ARGV do
    local operation, text = match(ARGV[i], '^(%a+) (.*)$')
    if sub(ARGV[i], 1, 8) == 'acquire:' then
      operation, text = 'acquire', ledger.acquire_text(ARGV[i])
    end
    if not ledger.operations[operation or ''] then
      ledger.refuse('SEINPAALARGUMENT', 'no such operation here')
    end
    requests[#requests + 1] = ledger.operations[operation](text)
  end
  ledger.may_grow = ledger.grows()
  ledger.start()
  local answer = { '' }
  for i, execute in ipairs(requests) do answer[i + 1] = execute() end
  answer[1] = ledger.finish()
  return answer
end

local ok, answer = pcall(ledger.run)
if ok then return answer end
return redis.error_reply(ledger.refusal_of(answer))
