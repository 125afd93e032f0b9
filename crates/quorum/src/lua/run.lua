-- Executes the lines of a call, writes, sends the wakeups, and answers.

local operations = {
  guard = guard_line, set = set_line, take = take_line, mend = mend_line, yield = yield_line,
  renew = renew_line, release = release_line, cancel = cancel_line, evict = evict_line,
  attach = attach_line, detach = detach_line, inspect = inspect_line, state = state_line,
}

-- A call with these operations alone is refused if the server has no memory.
local growing = { guard = true, set = true, take = true, state = true }

local function run()
  local fence_seen = begin_call()
  read_head()
  advance_clock()
  -- The fences of a name that was forgotten were not greater than the clock was then.
  head.fence = max(head.fence, fence_seen, is_fresh and now - 1 or 0)
  expire()
  local answer, only_grows = { '' }, true
  for i = 4, #ARGV do
    local operation, text = match(ARGV[i], '^(%a+) (.*)$')
    if not operations[operation or ''] then refuse('SEINPAALARGUMENT', 'no such operation') end
    -- The last ticket may have gone with the line before.
    drop_terms()
    answer[#answer + 1] = operations[operation](text)
    only_grows = only_grows and growing[operation] or false
  end
  -- Forgetting comes last, so that it takes no share of the work from tickets.
  forget()
  if head.holders + head.waiting == 0 then
    drop_terms()
    head.bound, head.longest = UNBOUNDED, 0
  end
  write(only_grows)
  for _, wakeup in ipairs(wakeups) do
    try('publish', channel_of(wakeup[1]), wakeup[2] .. ' ' .. records)
  end
  answer[1] = words('done', now, has_backlog and 1 or 0)
  return answer
end

-- Gives the answer to a call that an error has ended. What was written cannot be taken back.
local function refusal_of(raised)
  if type(raised) == 'table' and raised.refusal then return raised.refusal end
  local said = type(raised) == 'table' and raised.err or tostring(raised)
  said = string.gsub(said, '[\r\n]', ' ')
  if has_written then return 'SEINPAALTORN ' .. said end
  if string.find(said, 'OOM', 1, true) then return 'SEINPAALOOM the server has no memory left' end
  if string.find(said, 'WRONGTYPE', 1, true) then
    return 'SEINPAALCORRUPT the key has another type'
  end
  -- The server's own errors begin with their code.
  return match(said, '^%-?(%u%u+ .*)$') or match(said, '%-(%u%u+ .*)$')
    or 'SEINPAALFAILED ' .. said
end

local is_done, answer = pcall(run)
if is_done then return answer end
return redis.error_reply(refusal_of(answer))
