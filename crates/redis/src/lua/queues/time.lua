-- What comes by time: leases that have run out, jobs that fall due, and what may be forgotten. Made only where
-- a bound in the header has come.

if is_general then (function()
  -- Ends the leases that have run out by one of the clocks, the first one first. The ledger's clock decides,
  -- because it cannot jump. If nobody listens at the inbox of the worker, the server's clock decides as well:
  -- there is no worker whom a jump of that clock could hurt (rule 15).
  local function end_attempts(attempts, which, time)
    table.sort(attempts, function(a, b)
      return a[which] < b[which] or a[which] == b[which] and a.number < b.number
    end)
    for _, it in ipairs(attempts) do
      if not it.is_over then
        if it[which] > time or not L.has_work() then return end
        if which == 'ends_wall' and L.is_there(it.inbox) then
          it.ends_wall = now + max(it.ends - clock, 1)
        else
          it.is_over = true
          L.notify(it.inbox, it.id .. it.fence .. 'l')
          L.stop(it)
          L.fail(L.job(it.id), 0, 0, '')
        end
      end
    end
  end

  function L.expire()
    local attempts = {}
    due = 2 ^ 53
    for i, member in ipairs(L.page('[e', 'e', '129')) do
      local bound, id = read('>I8c8', member, 2)
      if bound > steady or i == 129 then
        due = bound
        break
      end
      attempts[i] = L.attempt(id) or error('SEINPAALCORRUPT an attempt that is listed is not there', 0)
      attempts[i].number = read('>I8', id)
    end
    end_attempts(attempts, 'ends', clock)
    end_attempts(attempts, 'ends_wall', now)
    for _, it in ipairs(attempts) do
      if not it.is_over then L.put_attempt(it) end
    end
  end

  -- Puts jobs that fell due into the order of service, as if they had been pushed then.
  function L.take_due()
    while delayed > 0 do
      local member = L.first('d')
      local at, id = read('>I8c8', member, 2)
      if at > now or not L.has_work() then
        due = min(due, at + shift)
        return
      end
      local job = L.job(id)
      delayed = delayed - 1
      L.place(member, false)
      job.state, job.at, job.rank = 'r', 0, at - job.priority * 60000000
      L.put_back(job, 0)
    end
  end

  -- Forgets sessions and keys whose time is over, at most so many of each, the first ones first. Corrects the bounds of
  -- sessions.
  function L.forget(most)
    local page, over = format('%d', most + 64), {}
    L.flush()
    forget_at = 2 ^ 53
    for i, member in ipairs(L.page('[s', 's', page)) do
      local bound, inbox = read('>I8c16', member, 2)
      if bound >= now or i == most + 64 then
        forget_at = min(forget_at, bound)
        break
      end
      local text = L.read('s' .. inbox) or error('SEINPAALCORRUPT a session that is listed is not there', 0)
      local number, till, _, after = read(SESSION, text)
      if till < now then
        over[#over + 1] = { till = till, bound = bound, member = member, field = 's' .. inbox }
      else
        L.place(member, false)
        L.place('s' .. pack('>I8', till) .. inbox, true)
        fields['s' .. inbox] = pack(SESSION, number, till, till) .. sub(text, after)
        forget_at = min(forget_at, till)
      end
    end
    table.sort(over, function(a, b) return a.till < b.till end)
    for i, it in ipairs(over) do
      if i <= most then
        L.place(it.member, false)
        sessions, fields[it.field] = sessions - 1, false
      else
        forget_at = min(forget_at, it.bound)
      end
    end
    for i, member in ipairs(L.page('[t', 't', page)) do
      local till = read('>I8', member, 2)
      if till > now or i > most then
        forget_at = min(forget_at, till)
        break
      end
      keys = keys - 1
      L.place(member, false)
      fields['k' .. sub(member, 10)] = false
    end
  end
end)() end
