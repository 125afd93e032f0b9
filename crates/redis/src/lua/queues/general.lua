-- Jobs, groups and attempts as functions: for groups, for whatever ends an attempt without finishing its job, and for the
-- parts that follow. Reads see what the call has changed.

if is_general then (function()
  add_common(L)
  members, changed, payloads, notifications = {}, {}, {}, {}

  -- Calls a function that may raise an error, unless there was one.
  function L.try(f, ...)
    if refusal then return end
    local ok, answer, its_kept = pcall(f, ...)
    if ok then return answer, its_kept end
    refusal = answer
  end

  function L.flush()
    local refused = write(grows, set, add, remove, gone, fields, members)
    if refused then error(refused, 0) end
    set, add, remove, gone, fields, members, changed = {}, {}, {}, nil, {}, {}, {}
  end

  function L.read(field)
    local text = fields[field]
    if text == nil then return call('hget', key, field) end
    return text
  end

  -- Adds a member to the order, or removes one.
  local function place(member, is_there)
    members[member], changed[byte(member)] = is_there, true
  end
  L.place = place

  -- Gives the members from this one on that have its letter. No byte after the letters is 255.
  function L.page(from, till, most)
    if changed[byte(till)] then L.flush() end
    return call('zrangebylex', order, from, '[' .. till .. '\255', 'limit', '0', most)
  end

  -- Gives the first member that begins with these letters; the header or a group counts that there is one.
  function L.first(band)
    return L.page('[' .. band, band, '1')[1] or error('SEINPAALCORRUPT something that is counted is not there', 0)
  end

  function L.notify(inbox, what)
    notifications[#notifications + 1] = { inbox, what }
  end

  function L.publish()
    for _, each in ipairs(notifications) do
      redis.pcall(is_sharded and 'spublish' or 'publish', L.channel_of(each[1]), each[2] .. key)
    end
  end

  -- Takes one of the ends, due jobs, calls and removals that one call may handle.
  function L.has_work()
    has_backlog = has_backlog or work == 0
    if work > 0 then
      work = work - 1
      return true
    end
  end

  -- Gives the job with this ID, which the order or an attempt says is there.
  function L.job(id)
    local text = L.read('i' .. id) or error('SEINPAALCORRUPT a job that is listed is not there', 0)
    local state, priority, most, attempts, bytes, pushed, rank, at, group, its_key, about, from = read(JOB, text)
    local key_at, about_at = from + group, from + group + its_key
    return {
      id = id, state = state, priority = priority, most = most, attempts = attempts, bytes = bytes, pushed = pushed,
      rank = rank, at = at, group = sub(text, from, key_at - 1), key = sub(text, key_at, about_at - 1),
      about = sub(text, about_at, about_at + about - 1), past = sub(text, about_at + about),
    }
  end

  function L.put_job(job)
    fields['i' .. job.id] = pack(JOB, job.state, job.priority, job.most, job.attempts, job.bytes, job.pushed, job.rank,
      job.at, #job.group, #job.key, #job.about) .. job.group .. job.key .. job.about .. job.past
  end

  -- Groups. A ready job of a group stands in the order of its group. The first one is open as well while the group has
  -- room. So the first open job is always the next one to deliver, however many jobs of full groups came before it.

  local known_groups = {}

  function L.group(name)
    local group = known_groups[name]
    if not group then
      local text = L.read('g' .. name)
      group = { name = name, active = 0, ready = 0, front = '', is_kept = text and true or false }
      if text then
        group.active, group.ready = read('<I4I4', text)
        group.front = sub(text, 9)
      end
      known_groups[name] = group
    end
    return group
  end

  local function open_job(group, where)
    group.front, open = where, open + 1
    place('a' .. where, true)
  end

  local function shut_job(group)
    place('a' .. group.front, false)
    group.front, open = '', open - 1
  end

  -- Ends a change of a group: opens its first job if none is open and it has room, and writes it.
  function L.put_group(group)
    if group.front == '' and group.ready > 0 and group.active < group_limit then
      open_job(group, sub(L.first('g' .. group.name .. '\0'), -16))
    end
    local is_kept = group.ready + group.active > 0
    if is_kept ~= group.is_kept then
      place('c' .. group.name, is_kept)
      group.is_kept, groups = is_kept, groups + (is_kept and 1 or -1)
    end
    fields['g' .. group.name] = is_kept and pack('<I4I4', group.active, group.ready) .. group.front
  end

  -- Adds a ready job. One that comes back may stand before the open one, which then makes way.
  function L.enter_group(name, where)
    local group = L.group(name)
    local is_first = group.ready == 0
    if group.front ~= '' then
      -- As numbers, because Lua compares texts by the locale.
      local rank, id = read('>I8I8', where)
      local its_rank, its_id = read('>I8I8', group.front)
      is_first = rank < its_rank or rank == its_rank and id < its_id
      if is_first then shut_job(group) end
    end
    group.ready = group.ready + 1
    place('g' .. name .. '\0' .. where, true)
    if is_first and group.active < group_limit then open_job(group, where) end
    L.put_group(group)
  end

  -- Takes the open job for a worker. Gives false if the group has been full since its limit was lowered: then that job is
  -- shut. Gives nil if the call has no work left for that.
  function L.take_open(name)
    local group = L.group(name)
    if group.active >= group_limit then
      if not L.has_work() then return nil end
      shut_job(group)
      L.put_group(group)
      return false
    end
    place('g' .. name .. '\0' .. group.front, false)
    group.ready, group.active, group.front = group.ready - 1, group.active + 1, ''
    L.put_group(group)
    return true
  end

  function L.leave_group(name)
    local group = L.group(name)
    group.active = group.active - 1
    L.put_group(group)
  end

  -- Deduplication keys. -------------------------------------------------------------------------------------------

  -- Gives the ID of the job that was pushed with this key not long ago.
  function L.pushed_with(its_key)
    local known = L.read('k' .. its_key)
    return known and read('<d', known) > now and sub(known, 9)
  end

  function L.remember_key(its_key, window, id)
    local known, till = L.read('k' .. its_key), now + window
    if known then place('t' .. pack('>I8', (read('<d', known))) .. its_key, false) else keys = keys + 1 end
    place('t' .. pack('>I8', till) .. its_key, true)
    fields['k' .. its_key] = pack('<d', till) .. id
    forget_at, memory = min(forget_at, till), max(memory, till)
  end

  -- Attempts. ---------------------------------------------------------------------------------------------------

  -- Gives the attempt under way of a job, if it has this fence or none is asked for.
  function L.attempt(id, asked)
    local text = L.read('a' .. id)
    if not text or asked and sub(text, 1, 8) ~= asked then return nil end
    local fence, inbox, since, ttl, ends, ends_wall, its_bound, group, at = read(ATTEMPT, text)
    return {
      id = id, fence = fence, inbox = inbox, since = since, ttl = ttl, ends = ends, ends_wall = ends_wall,
      listed = its_bound, group = sub(text, at, at + group - 1), about = sub(text, at + group),
    }
  end

  -- Writes an attempt that was changed, and lists it by a bound of its end. A bound that is too early is corrected when it
  -- has come, so a renewal leaves it as it is.
  function L.put_attempt(it)
    local first = max(steady + min(it.ends - clock, it.ends_wall - now), 1)
    if it.listed <= steady or first < it.listed then
      place('e' .. pack('>I8', it.listed) .. it.id, false)
      place('e' .. pack('>I8', first) .. it.id, true)
      it.listed = first
    end
    due = min(due, it.listed)
    fields['a' .. it.id] = pack(ATTEMPT, it.fence, it.inbox, it.since, it.ttl, it.ends, it.ends_wall, it.listed,
      #it.group) .. it.group .. it.about
  end

  -- Ends an attempt. The job then stands nowhere.
  function L.stop(it)
    active = active - 1
    place('e' .. pack('>I8', it.listed) .. it.id, false)
    fields['a' .. it.id] = false
    if it.group ~= '' then L.leave_group(it.group) end
  end

  -- Puts a job that stands nowhere into the order of service, or sets it aside until it is due.
  function L.put_back(job, delay)
    local where = pack('>I8', job.rank + 10000000000) .. job.id
    if delay > 0 then
      job.state, job.at, delayed = 'd', min(now + delay, 2 ^ 53), delayed + 1
      due = min(due, job.at + shift)
      place('d' .. pack('>I8', job.at) .. job.id, true)
    else
      ready = ready + 1
      if job.group ~= '' then
        L.enter_group(job.group, where)
      else
        open = open + 1
        place('a' .. where, true)
      end
    end
    L.put_job(job)
  end

  -- Notes why an attempt did not finish its job: the attempt's number, when, 0 expired or 1 failed, the reason. The last
  -- eight are kept, behind their number. After its last attempt a job is dead.
  function L.fail(job, delay, kind, reason)
    local ended, past = byte(job.past) or 0, sub(job.past, 2)
    if ended == 8 then past, ended = sub(past, 16 + read('<I2', past, 14)), 7 end
    job.attempts = job.attempts + 1
    job.past = string.char(ended + 1) .. past .. pack('<I4dBI2', job.attempts, now, kind, #reason) .. reason
    if job.attempts < job.most then
      L.put_back(job, delay)
      return '\6'
    end
    job.state, job.at, dead = 'x', now, dead + 1
    place('x' .. job.id, true)
    L.put_job(job)
    return '\7'
  end

  -- Requests. Each is a function of where its body begins and ends in the argument, and gives its answer, and what is kept
  -- of it for a repetition if that differs. --------------------------------------------------------------------------

  -- Release and fail. An attempt that is released does not count.
  L[4] = function(at, to, has_failed)
    local id, fence, delay, after = read('<c8c8d', argument, at)
    if not (delay >= 0) or to - after >= 256 then error('SEINPAALARGUMENT a release', 0) end
    local it = L.attempt(id, fence)
    if not it then return '\8' end
    L.stop(it)
    if has_failed then return L.fail(L.job(id), delay, 1, sub(argument, after, to)) end
    L.put_back(L.job(id), delay)
    return '\6'
  end

  L[5] = function(at, to) return L[4](at, to, true) end

  -- Renew: extends attempts, at most so many in a call, and makes the sender their owner, so an attempt can change hands.
  local renewals = 1000
  L[6] = function(at, to)
    local ttl, margin, after = read('<dd', argument, at)
    local lost = {}
    renewals = renewals - (to - after + 1) / 16
    if not (ttl >= 100000 and ttl <= 86400000000 and margin >= 0) or renewals < 0 or renewals % 1 > 0 then
      error('SEINPAALARGUMENT a renewal', 0)
    end
    for from = after, to, 16 do
      local it = L.attempt(read('c8c8', argument, from))
      if it then
        it.inbox, it.ttl, it.ends, it.ends_wall = asker, ttl, clock + ttl, now + ttl
        bound = min(bound, margin)
        L.put_attempt(it)
      else
        lost[#lost + 1] = sub(argument, from, from + 15)
      end
    end
    return pack('<BdI2', 4, ttl, #lost) .. table.concat(lost)
  end

  -- Leave: asks for no more jobs.
  L[7] = function()
    if idle + called > 0 then L.leave_line() end
    return '\9'
  end

  -- Answers a pop again whose answer was lost, with the same jobs except those that are over.
  function L.deliver_again(deliveries)
    local told, valid = {}, 2 ^ 53
    for at = 1, #deliveries, 16 do
      local it = L.attempt(read('c8c8', deliveries, at))
      if it then
        local job = L.job(it.id)
        payloads[#payloads + 1] = L.read('p' .. it.id) or error('SEINPAALCORRUPT the payload of a job is gone', 0)
        told[#told + 1] = pack(DELIVERY, it.id, it.fence, job.attempts + 1, job.most, job.priority, job.pushed,
          #job.group, #job.about) .. job.group .. job.about
        valid = min(valid, max(it.ends - clock, 0))
      end
    end
    return pack(POPPED, 3, #told > 0 and valid or 0, ready + delayed + active, #told) .. table.concat(told)
  end
end)() end
