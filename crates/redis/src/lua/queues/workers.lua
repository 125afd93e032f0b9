-- Idle workers: which of them are called for open jobs, and which one watches for what comes by time. Made
-- only where a worker is idle.

if is_general then (function()
  -- A worker is its member of the order, which also is the field of the worker.
  local function read_place(member)
    local since, at = nil, 2
    if byte(member) == 107 then since, at = read('>I8', member, at) end -- k
    local drains, till, inbox, want = read('>BI8c16B', member, at)
    return { member = member, since = since, drains = drains, till = till, inbox = inbox, want = want }
  end

  local function put_place(worker, member)
    if worker.member then L.place(worker.member, false) end
    L.place(member, true)
    fields['l' .. worker.inbox] = member
    memory = max(memory, worker.till)
  end

  local function remove_place(worker)
    if worker.since then
      called, wanted = called - 1, wanted - worker.want
    else
      idle = idle - 1
    end
    L.place(worker.member, false)
    fields['l' .. worker.inbox] = false
  end

  function L.leave_line()
    local member = L.read('l' .. asker)
    if member then remove_place(read_place(member)) end
  end

  -- Workers that drain the queue (0) stand first.
  function L.stand_in_line(want, drains)
    local till = now + 180000000
    idle = idle + 1
    put_place({ inbox = asker, till = till },
      pack('>c1BI8c16B', 'l', drains, till, asker, want))
  end

  -- Gives the first worker in line (l) or of those called (k), after those of workers that do not stay.
  local function first_place(band, stays)
    while (band == 'l' and idle or called) > 0 do
      local worker = read_place(L.first(band))
      if stays(worker) then return worker end
      if not L.has_work() then return nil end
      remove_place(worker)
    end
  end

  -- A worker that ends later than a new one would was given before the clock was set back. A worker that watches
  -- and has not looked in time is gone, too.
  local function is_in_time(worker)
    local has_overslept = watch == worker.inbox and worker.inbox ~= asker and watch_at + 1000000 < now
    return now < worker.till and worker.till <= now + 180000000 and not has_overslept
  end

  -- A worker that cannot be reached loses its worker, and asks again when it is back.
  local function is_reachable(worker)
    return is_in_time(worker) and L.is_there(worker.inbox)
  end

  -- A call is over after a second, or if it was made before the clock was set back.
  local function is_called(worker)
    return math.abs(now - worker.since) < 1000000
  end

  local function is_any()
    return true
  end

  -- A worker that is called gets nothing before it comes, so one that does not come blocks no job.
  local function call_worker(worker)
    idle, called, wanted = idle - 1, called + 1, wanted + worker.want
    put_place(worker, 'k' .. pack('>I8', now) .. sub(worker.member, 2))
    L.notify(worker.inbox, NOBODY .. 'c')
  end

  -- Calls as many workers as the open jobs need, less those that were called already. A group counts with one
  -- job, because the worker that takes it makes the next one open.
  local function call_workers()
    first_place('k', is_called)
    if ready + delayed + active == 0 then
      local worker = first_place('l', is_reachable)
      while worker and worker.drains == 0 and L.has_work() do
        call_worker(worker)
        worker = first_place('l', is_reachable)
      end
    end
    local open = not is_paused and min(open, limit - active) or 0
    while wanted < open do
      local worker = first_place('l', is_reachable)
      if not worker or not L.has_work() then return end
      call_worker(worker)
    end
  end

  -- Gives how long the first lease lasts on the ledger's clock, at most the bound. Bounds in the order may be
  -- too early, so the leases that are listed within that time are looked at.
  local function first_end()
    local first = bound
    if due - steady >= first then return first end
    for _, member in ipairs(L.page('[e', 'e', '64')) do
      local bound, id = read('>I8c8', member, 2)
      if bound - steady >= first then break end
      first = min(first, max(L.attempt(id).ends - clock, 0))
    end
    return first
  end

  -- Gives when something comes without a request, on the server's clock. At the latest after the bound,
  -- which keeps the ledger's clock at full speed.
  local function next_event()
    local at = 2 ^ 54
    if delayed > 0 and not is_paused and active < limit then
      at = read('>I8', L.first('d'), 2)
    end
    if active > 0 then at = min(at, now + first_end()) end
    local called = first_place('k', is_any)
    if called then at = min(at, called.since + 1000000) end
    return at
  end

  -- Tells the first worker in line when the next event comes, unless it will look by then. Gives after how
  -- long the sender looks again if it is that worker, else -1.
  local function tell_watch()
    local at = idle > 0 and next_event() or 2 ^ 54
    local first = at < 2 ^ 54 and first_place('l', is_reachable)
    if not first then
      watch = NOBODY
      return -1
    end
    local will_look = watch == first.inbox and watch_at <= at and watch_at > now
    if first.inbox ~= asker and will_look then return -1 end
    local look = max(at - now, 1)
    watch, watch_at = first.inbox, now + look
    if first.inbox == asker then return look end
    L.notify(first.inbox, NOBODY .. 'w' .. pack('<d', look))
    return -1
  end

  function L.serve_workers()
    first_place('l', is_in_time)
    call_workers()
    return tell_watch()
  end
end)() end
