-- What people read of a queue. It changes nothing.

if has_operators then (function()
  local rows_left = 500

  -- Gives the rows behind a member of the order, and the member behind which the next page begins, '' after the last. A
  -- row is what is stored of a job. Ready jobs are listed group by group, and then those without a group. The server
  -- gives payloads only as a whole, so their lengths count.
  local function page(at, rows, with_payload)
    local told, left = {}, min(rows, rows_left)
    while left > 0 and at ~= '' do
      local letter, wanted = byte(at), left
      local found = L.page('(' .. at, string.char(letter), format('%d', wanted))
      for _, member in ipairs(found) do
        if letter == 99 then -- c
          local group = L.group(sub(member, 2))
          told[#told + 1] = pack('<I4I4I2', group.active, group.ready, #group.name) .. group.name
        else
          local id = sub(member, -8)
          local row = call('hmget', key, 'i' .. id, 'a' .. id, with_payload and 'p' .. id or '-')
          local job, it, preview = row[1], row[2] or '', sub(row[3] or '', 1, 256)
          if not job or #job < JOB_SIZE then error('SEINPAALCORRUPT a job that is listed is not there', 0) end
          if letter ~= 97 or read('<I2', job, 39) == 0 then -- a, no group
            local bytes = with_payload and read('<I4', job, 11) or 0
            if bytes > room and told[1] then
              left = 0
              break
            end
            room = max(room - bytes, 0)
            told[#told + 1] = pack('<c8I2I2I2', id, #job, #it, #preview) .. job .. it .. preview
          end
        end
        at, left = member, left - 1
      end
      if #found < wanted and left > 0 then at = letter == 103 and 'a' or '' end -- g
    end
    rows_left = rows_left - #told
    return pack('<I2I2', #told, #at) .. at .. table.concat(told)
  end

  -- Inspect: the totals, and the first active jobs and groups.
  L[13] = function(at)
    L.flush()
    local rows, oldest, next_due = read('<I2', argument, at), -1, -1
    local first, next_delayed = L.page('[a', 'a', '1')[1], L.page('[d', 'd', '1')[1]
    if first then oldest = max(now - L.job(sub(first, -8)).pushed, 0) end
    if next_delayed then next_due = max(read('>I8', next_delayed, 2) - now, 0) end
    local reason = is_paused and L.read('r') or ''
    return pack('<BBI4I4I4I4I4I4I4dddI2', 16, is_paused and 1 or 0, limit, group_limit, ready, delayed,
      active, dead, idle + called, oldest, next_due, clock, #reason) .. reason .. page('e', rows) .. page('c', rows), '\9'
  end

  -- List: a page behind a member: g and a ready jobs, d delayed, e active, x dead; c groups.
  L[14] = function(at, to)
    L.flush()
    local rows, from = read('<I2', argument, at), sub(argument, at + 2, to)
    if not string.find(from, '^[gadexc]') or #from > 530 then error('SEINPAALARGUMENT a place in a list', 0) end
    return pack('<Bd', 17, clock) .. page(from, max(rows, 1), true), '\9'
  end
end)() end
