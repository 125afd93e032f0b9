-- The requests of operators.

if has_operators then (function()
  local function remove_job(id)
    fields['i' .. id], fields['p' .. id] = false, false
  end

  -- Forgets the key of a job that is cancelled, so that it may be pushed again.
  local function forget_key_of(job)
    local known = job.key ~= '' and L.read('k' .. job.key)
    if not known or sub(known, 9) ~= job.id then return end
    keys = keys - 1
    L.place('t' .. pack('>I8', (read('<d', known))) .. job.key, false)
    fields['k' .. job.key] = false
  end

  -- Removes a job that is ready or delayed.
  local function remove_waiting(job)
    local where = pack('>I8', job.rank + 10000000000) .. job.id
    if job.state == 'd' then
      delayed = delayed - 1
      L.place('d' .. pack('>I8', job.at) .. job.id, false)
    elseif job.group == '' then
      ready, open = ready - 1, open - 1
      L.place('a' .. where, false)
    else
      local group = L.group(job.group)
      group.ready, ready = group.ready - 1, ready - 1
      L.place('g' .. group.name .. '\0' .. where, false)
      if group.front == where then
        group.front, open = '', open - 1
        L.place('a' .. where, false)
      end
      L.put_group(group)
    end
    remove_job(job.id)
  end

  -- Takes a dead job out of the order, or gives nil.
  local function take_dead(id)
    local job = L.read('i' .. id) and L.job(id)
    if not job or job.state ~= 'x' then return nil end
    dead = dead - 1
    L.place('x' .. id, false)
    return job
  end

  -- Cancel: removes a job that is not dead. With the option, spares one that is active.
  L[8] = function(at)
    local id, spares_active = read('<c8B', argument, at)
    local job, it = L.read('i' .. id) and L.job(id), L.attempt(id)
    if not job or job.state == 'x' or it and spares_active == 1 then return '\11' end
    forget_key_of(job)
    if it then
      L.notify(it.inbox, id .. it.fence .. 'l')
      L.stop(it)
      remove_job(id)
      return '\10a'
    end
    remove_waiting(job)
    return '\10' .. job.state
  end

  -- Retry: puts a dead job at the end of the line, with all its attempts before it.
  L[9] = function(at)
    local job = take_dead(sub(argument, at, at + 7))
    if not job then return '\11' end
    last = max(last + 1, now)
    job.state, job.at, job.attempts, job.rank = 'r', 0, 0, last - job.priority * 60000000
    L.put_back(job, 0)
    return '\12'
  end

  -- Delete: forgets a dead job.
  L[10] = function(at)
    local job = take_dead(sub(argument, at, at + 7))
    if not job then return '\11' end
    remove_job(job.id)
    return '\13'
  end

  -- Purge: removes all dead jobs (x), or all that are ready or delayed, as many as one call may. The client
  -- asks again, so what is left is no work for others.
  L[11] = function(at)
    local is_dead, removed, had_backlog = sub(argument, at, at) == 'x', 0, has_backlog
    while true do
      local band = open > 0 and 'a' or ready > 0 and 'g' or delayed > 0 and 'd'
      if is_dead then band = dead > 0 and 'x' end
      if not band or not L.has_work() then
        has_backlog = had_backlog
        return pack('<BI4B', 14, removed, band and 1 or 0)
      end
      local id = sub(L.first(band), -8)
      if is_dead then
        take_dead(id)
        remove_job(id)
      else
        local job = L.job(id)
        forget_key_of(job)
        remove_waiting(job)
      end
      removed = removed + 1
    end
  end

  -- Opens groups that were full and have room now, after their limit was changed. What one call leaves over, the next goes
  -- on with behind the last group that was opened, or after many that were open already, behind the last of these.
  function L.reopen_groups()
    local after = reopen
    for _ = 1, 256 do
      local member = L.page('(g' .. after .. '\1', 'g', '1')[1]
      if not member then
        reopen = false
        return
      end
      local group = L.group(sub(member, 2, -18))
      after = group.name
      if group.front == '' then
        if not L.has_work() then return end
        L.put_group(group)
        reopen = after
      end
    end
    reopen, has_backlog = after, true
  end

  -- Configure: l the limit of active jobs, g that of each group; p a pause with its reason, r its end. A lower
  -- limit ends no attempt.
  L[12] = function(at, to)
    local what, value = sub(argument, at, at), sub(argument, at + 1, to)
    if what == 'p' or what == 'r' then
      is_paused = what == 'p'
      fields.r = is_paused and value
    else
      local most = read('<I4', value)
      if most > 1000000000 and most < NONE then error('SEINPAALARGUMENT a limit', 0) end
      if what == 'l' then
        limit = most
      else
        group_limit, reopen = most, ''
        L.reopen_groups()
      end
    end
    return pack('<BI4I4', 15, limit, group_limit)
  end
end)() end
