-- What people read of a queue. It changes nothing.

if has_lists then
local function add_lists()
  local function job_told(job, with_payload)
    local it, preview = L.attempt(job.id), ''
    if with_payload then
      room = max(room - job.bytes, 0)
      preview = sub(L.read('p' .. job.id) or '', 1, 256)
    end
    return pack('<c8c1I4I4bdI4dc8c16ddI2I2I2I2I2', job.id, it and 'a' or job.state,
      job.attempts + (it and 1 or 0), job.most, job.priority, job.pushed, job.bytes, job.at, it and it.fence or NOBODY,
      it and it.inbox or NOBODY, it and max(now - it.since, 0) or 0,
      it and max(it.ends - clock, 0) or 0, #job.group, #job.about, #job.past, it and #it.about or 0,
      #preview) .. job.group .. job.about .. job.past .. (it and it.about or '') .. preview
  end

  -- Gives the rows behind a member of the order, and the member behind which the next page begins, '' after the
  -- last. Ready jobs stand in two bands, that of the open ones comes last. The server gives payloads only as a
  -- whole, so their lengths count.
  local function page(at, rows, with_payload)
    local told, left = {}, min(rows, rows_left)
    while left > 0 and at ~= '' do
      local letter, wanted = byte(at), left
      if pages[letter] ~= nil then L.flush() end
      local found = call('zrangebylex', order, '(' .. at, '[' .. string.char(letter) .. '\255', 'limit', '0',
        format('%d', wanted))
      for _, member in ipairs(found) do
        if letter == 99 then -- c
          local group = L.group(sub(member, 2))
          told[#told + 1] = pack('<I4I4I2', group.active, group.ready, #group.name) .. group.name
        else
          local job = L.job(sub(member, -8))
          if with_payload and job.bytes > room and #told > 0 then
            left = 0
            break
          end
          told[#told + 1] = job_told(job, with_payload)
        end
        at, left = member, left - 1
      end
      if #found < wanted and left > 0 then at = letter == 103 and 'a' or '' end -- g
    end
    rows_left = rows_left - #told
    return pack('<I2I2', #told, #at) .. at .. concat(told)
  end

  -- Inspect: the totals, and the first active jobs and groups.
  L[13] = function(at)
    local rows, oldest, next_due = read('<I2', argument, at), -1, -1
    local first, next_delayed = open > 0 and L.first('a', '1'), delayed > 0 and L.first('d', '1')
    if first then oldest = max(now - L.job(sub(first, -8)).pushed, 0) end
    if next_delayed then next_due = max(read('>I8', next_delayed, 2) - now, 0) end
    local reason = is_paused and L.read('r') or ''
    return pack('<BBI4I4I4I4I4I4I4ddI2', 16, is_paused and 1 or 0, limit, group_limit, ready, delayed,
      active, dead, idle + called, oldest, next_due, #reason) .. reason .. page('e', rows) .. page('c', rows), '\9'
  end

  -- List: a page behind a member: g and a ready jobs, d delayed, e active, x dead; c groups.
  L[14] = function(at, to)
    local rows, from = read('<I2', argument, at), sub(argument, at + 2, to)
    if not string.find(from, '^[gadexc]') or #from > 530 then error('SEINPAALARGUMENT a place in a list', 0) end
    return '\17' .. page(from, max(rows, 1), true), '\9'
  end
end
add_lists()
end
