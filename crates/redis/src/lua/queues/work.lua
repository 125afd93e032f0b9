-- The requests of workers. Each reads its body, which begins at `at` in the argument and ends at `to`, and gives its
-- answer, and what is kept of it for a repetition if that differs.

if has_jobs then
local function add_work()
  -- Whether another job may be active.
  function L.delivers()
    return not is_paused and active < limit
  end

  -- Gives the next job to deliver. Passes over groups that have been full since the limit was lowered.
  function L.next_open(most)
    while open > 0 do
      local member = L.first('o', most) or L.refuse('SEINPAALCORRUPT an open job that is counted is not there')
      local job = L.job(sub(member, 10))
      local group = job.group ~= '' and L.group(job.group)
      if not group or group.active < group_limit then return job end
      if not L.has_work() then return nil end
      L.shut(group)
      L.put_group(group)
    end
  end

  -- Gives the answer to a pop. The time that it promises holds for all of its jobs.
  function L.popped(jobs)
    local valid, told, kept = 2 ^ 53, {}, {}
    for i, job in ipairs(jobs) do
      local it = job.attempt
      payloads[#payloads + 1] = L.read('p' .. job.id) or L.refuse('SEINPAALCORRUPT the payload of job '
        .. format('%d', (read('>I8', job.id))) .. ' is gone: cancel that job')
      told[i] = pack('<c8c8I4I4bdI2I2', job.id, it.fence, job.attempts + 1, job.most, job.priority,
        job.pushed, #job.group, #job.about) .. job.group .. job.about
      kept[i] = job.id .. it.fence
      valid = min(valid, max(it.ends - clock, 0))
    end
    return pack('<BddB', 3, #jobs > 0 and valid or 0, ready + delayed + active, #jobs)
      .. concat(told), '\3' .. string.char(#jobs) .. concat(kept)
  end

  -- Answers a pop again whose answer was lost, with the same jobs except those that are over.
  function L.deliver_again(deliveries)
    local jobs = {}
    for at = 1, #deliveries, 16 do
      local it = L.attempt(read('c8c8', deliveries, at))
      if it then
        jobs[#jobs + 1] = L.job(it.id)
        jobs[#jobs].attempt = it
      end
    end
    return L.popped(jobs)
  end

  -- Pop.
  L[2] = function(at, to)
    local most, ttl, margin, options, after = read('<BddB', argument, at)
    local jobs, page = {}, format('%d', most)
    if most < 1 or most > 64 or not (ttl >= 100000 and ttl <= 86400000000 and margin >= 0)
        or to - after >= 4096 then
      L.refuse('SEINPAALARGUMENT a pop')
    end
    if idle + called > 0 then L.leave_line() end
    while #jobs < most and L.delivers() do
      local job = L.next_open(page)
      -- The first job goes out however long it is. Otherwise it would be the first for ever.
      if not job or #jobs > 0 and job.bytes > room then break end
      job.attempt = {
        id = job.id, fence = pack('>I8', L.next_number()), inbox = asker, since = now, ttl = ttl,
        ends = clock + ttl, ends_wall = now + ttl, listed = 0, group = job.group,
        about = sub(argument, after, to),
      }
      L.put_attempt(job.attempt)
      active, bound, room = active + 1, min(bound, margin), max(room - job.bytes, 0)
      L.leave_ready(job, true)
      jobs[#jobs + 1] = job
    end
    if options % 2 == 1 and #jobs < most then L.stand_in_line(most - #jobs, options < 2 and 1 or 0) end
    return L.popped(jobs)
  end

  -- Acknowledge.
  L[3] = function(at)
    local it = L.attempt(read('c8c8', argument, at))
    if not it then return '\8' end
    L.stop(it)
    L.remove_job(it.id)
    return '\5'
  end

  -- Release and fail. An attempt that is released does not count.
  L[4] = function(at, to, has_failed)
    local id, fence, delay, after = read('<c8c8d', argument, at)
    if not (delay >= 0) or to - after >= 256 then L.refuse('SEINPAALARGUMENT a release') end
    local it = L.attempt(id, fence)
    if not it then return '\8' end
    L.stop(it)
    if has_failed then return L.fail(L.job(id), delay, 1, sub(argument, after, to)) end
    L.put_back(L.job(id), delay)
    return '\6'
  end

  L[5] = function(at, to) return L[4](at, to, true) end

  -- Renew: extends attempts, and makes the sender their owner, so an attempt can change hands.
  L[6] = function(at, to)
    local ttl, margin, after = read('<dd', argument, at)
    local lost = {}
    renewals = renewals - (to - after + 1) / 16
    if not (ttl >= 100000 and ttl <= 86400000000 and margin >= 0) or renewals < 0 or renewals % 1 > 0 then
      L.refuse('SEINPAALARGUMENT a renewal')
    end
    for place = after, to, 16 do
      local it = L.attempt(read('c8c8', argument, place))
      if it then
        it.inbox, it.ttl, it.ends, it.ends_wall = asker, ttl, clock + ttl, now + ttl
        bound = min(bound, margin)
        L.put_attempt(it)
      else
        lost[#lost + 1] = sub(argument, place, place + 15)
      end
    end
    return pack('<BdI2', 4, ttl, #lost) .. concat(lost)
  end

  -- Leave: asks for no more jobs.
  L[7] = function()
    if idle + called > 0 then L.leave_line() end
    return '\9'
  end
end
add_work()
end
