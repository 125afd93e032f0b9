-- Jobs, groups and attempts: what the requests of workers and operators, and time, do to them. Made only where
-- a call needs it. Reads see what the call has changed.

if has_jobs or has_workers or has_operators or has_time then
local function add_jobs()
  -- Groups that were read or changed.
  local groups = {}

  function L.refuse(what)
    error({ refusal = what }, 0)
  end

  function L.read(field)
    local text = fields[field]
    if text == nil then return call('hget', key, field) end
    return text
  end

  -- Gives the first member that begins with these letters. A page of members serves until something is added
  -- to its band. No byte after the letters is 255.
  function L.first(band, most)
    local letter = byte(band)
    local page = pages[letter]
    while page and page.band == band and page.at <= page.most do
      local member = page[page.at]
      if not member or members[member] ~= false then return member end
      page.at = page.at + 1
    end
    if page ~= nil then flush() end
    page = call('zrangebylex', order, '[' .. band, '[' .. band .. '\255', 'limit', '0', most)
    page.band, page.at, page.most = band, 1, most + 0
    pages[letter] = page
    return page[1]
  end

  -- Numbers of jobs and fences grow strictly. They follow the clock, so they also grow after a loss of memory.
  function L.next_number()
    last = max(last + 1, now)
    return last
  end

  -- Takes one of the ends, due jobs, calls and removals that one call may handle.
  function L.has_work()
    if work == 0 then
      has_backlog = true
      return false
    end
    work = work - 1
    return true
  end

  -- Gives the job with this ID, which the order or an attempt says is there.
  function L.job(id)
    local text = L.read('i' .. id) or L.refuse('SEINPAALCORRUPT a job that is listed is not there')
    local state, priority, most, attempts, bytes, pushed, rank, at, group, key, about, from =
      read(JOB, text)
    local key_at, about_at = from + group, from + group + key
    return {
      id = id, state = state, priority = priority, most = most, attempts = attempts, bytes = bytes,
      pushed = pushed, rank = rank, at = at, group = sub(text, from, key_at - 1),
      key = sub(text, key_at, about_at - 1), about = sub(text, about_at, about_at + about - 1),
      past = sub(text, about_at + about),
    }
  end

  function L.put_job(job)
    fields['i' .. job.id] = pack(JOB, job.state, job.priority, job.most, job.attempts, job.bytes,
      job.pushed, job.rank, job.at, #job.group, #job.key, #job.about) .. job.group .. job.key .. job.about
      .. job.past
  end

  function L.remove_job(id)
    fields['i' .. id], fields['p' .. id] = false, false
  end

  -- Groups. The first ready job of a group is open while the group has room. So the first open job is always
  -- the next one to deliver, however many jobs of full groups came before it.

  function L.group(name)
    local group = groups[name]
    if not group then
      local text = L.read('g' .. name)
      group = { name = name, active = 0, ready = 0, front = '', is_kept = text and true }
      if text then
        group.active, group.ready = read('<I4I4', text)
        group.front = sub(text, 9)
      end
      groups[name] = group
    end
    return group
  end

  function L.open_job(group, where)
    group.front, open = where, open + 1
    place('o' .. where, true)
  end

  function L.shut(group)
    place('o' .. group.front, false)
    place('g' .. group.name .. '\0' .. group.front, true)
    group.front, open = '', open - 1
  end

  -- Ends a change of a group: opens its first job if none is open and it has room, and writes it.
  function L.put_group(group)
    if group.front == '' and group.ready > 0 and group.active < group_limit then
      local member = L.first('g' .. group.name .. '\0', '1')
        or L.refuse('SEINPAALCORRUPT a group has fewer jobs than it counts')
      place(member, false)
      L.open_job(group, sub(member, -16))
    end
    local is_kept = group.ready + group.active > 0
    if is_kept ~= group.is_kept then place('c' .. group.name, is_kept) end
    group.is_kept = is_kept
    fields['g' .. group.name] = is_kept and pack('<I4I4', group.active, group.ready) .. group.front
  end

  -- Puts a job that stands nowhere into the order of service. A job that comes back may stand before the open one
  -- of its group, which then makes way.
  function L.make_ready(name, where)
    ready = ready + 1
    if name == '' then
      open = open + 1
      return place('o' .. where, true)
    end
    local group = L.group(name)
    local is_first = group.ready == 0
    if group.front ~= '' then
      -- As numbers, because Lua compares texts by the locale.
      local rank, number = read('>I8I8', where)
      local its_rank, its_number = read('>I8I8', group.front)
      is_first = rank < its_rank or rank == its_rank and number < its_number
      if is_first then L.shut(group) end
    end
    group.ready = group.ready + 1
    if is_first and group.active < group_limit then
      L.open_job(group, where)
    else
      place('g' .. name .. '\0' .. where, true)
    end
    L.put_group(group)
  end

  -- Takes a ready job out of the order of service.
  function L.leave_ready(job, becomes_active)
    local where = pack('>I8', job.rank + 10000000000) .. job.id
    ready = ready - 1
    if job.group == '' then
      open = open - 1
      place('o' .. where, false)
      return
    end
    local group = L.group(job.group)
    group.ready, group.active = group.ready - 1, group.active + (becomes_active and 1 or 0)
    if group.front == where then
      group.front, open = '', open - 1
      place('o' .. where, false)
    else
      place('g' .. group.name .. '\0' .. where, false)
    end
    L.put_group(group)
  end

  -- Attempts. --------------------------------------------------------------------------------------

  -- Gives the attempt under way of a job, if it has this fence or none is asked for.
  function L.attempt(id, asked)
    local text = L.read('a' .. id)
    if not text or asked and sub(text, 1, 8) ~= asked then return nil end
    local fence, inbox, since, ttl, ends, ends_wall, listed, group, at = read(ATTEMPT, text)
    return {
      id = id, fence = fence, inbox = inbox, since = since, ttl = ttl, ends = ends, ends_wall = ends_wall,
      listed = listed, group = sub(text, at, at + group - 1), about = sub(text, at + group),
    }
  end

  -- Writes an attempt, and lists it by a bound of its end. A bound that is too early is corrected when it has
  -- come, so a renewal leaves it as it is.
  function L.put_attempt(it)
    local bound = max(steady + min(it.ends - clock, it.ends_wall - now), 1)
    if it.listed <= steady or bound < it.listed then
      if it.listed > 0 then place('e' .. pack('>I8', it.listed) .. it.id, false) end
      place('e' .. pack('>I8', bound) .. it.id, true)
      it.listed = bound
    end
    if it.listed < due then due = it.listed end
    fields['a' .. it.id] = pack(ATTEMPT, it.fence, it.inbox, it.since, it.ttl, it.ends, it.ends_wall,
      it.listed, #it.group) .. it.group .. it.about
  end

  -- Ends an attempt. The job then stands nowhere.
  function L.stop(it)
    active = active - 1
    place('e' .. pack('>I8', it.listed) .. it.id, false)
    fields['a' .. it.id] = false
    if it.group ~= '' then
      local group = L.group(it.group)
      group.active = group.active - 1
      L.put_group(group)
    end
  end

  -- Puts a job that stands nowhere into the order of service, or sets it aside until it is due.
  function L.put_back(job, delay)
    if delay > 0 then
      job.state, job.at, delayed = 'd', min(now + delay, 2 ^ 53), delayed + 1
      due = min(due, job.at + shift)
      place('d' .. pack('>I8', job.at) .. job.id, true)
    else
      L.make_ready(job.group, pack('>I8', job.rank + 10000000000) .. job.id)
    end
    L.put_job(job)
  end

  -- Ends an attempt that did not finish its job, and notes why: its number, when, 0 expired or 1 failed, the
  -- reason. The last eight are kept, behind their number. After its last attempt a job is dead.
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
end
add_jobs()
end
