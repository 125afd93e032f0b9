-- Whether a client can be reached, and what it is told.

if is_general then (function()
  -- Which inboxes are listened at; whether clients may still be on their way here.
  local there, settles = {}, nil

  function L.channel_of(inbox)
    local start = is_sharded and key .. ':inbox:' or string.match(key, '^[^{]*') .. 'inbox:'
    return start .. format(string.rep('%02x', 16), byte(inbox, 1, 16))
  end

  -- After a fail-over or a move of the hash slot, clients have to find the new node first. So for 15
  -- seconds no client counts as gone. The first call that misses a listener there starts that time.
  function L.is_settling()
    if not is_sharded then return false end
    if settles == nil then
      local here, home = call('cluster', 'myid'), call('hget', key, 'n')
      local till = home and sub(home, 1, #here) == here and tonumber(sub(home, #here + 2))
      if not till then
        till = now + 15 * 1000000
        fields.n = here .. ' ' .. format('%.0f', till)
      end
      settles = now < till and till <= now + 15 * 1000000
    end
    return settles
  end

  -- The sender is there. A node that is being given the hash slot cannot tell who listens.
  function L.is_there(inbox)
    if inbox == asker or options % 8 >= 4 then return true end
    if there[inbox] == nil then
      local command = is_sharded and 'shardnumsub' or 'numsub'
      there[inbox] = call('pubsub', command, L.channel_of(inbox))[2] > 0 or L.is_settling()
    end
    return there[inbox]
  end

  function L.notify(inbox, what)
    notifications[#notifications + 1] = { inbox, what }
  end

  function L.publish()
    for _, each in ipairs(notifications) do
      redis.pcall(is_sharded and 'spublish' or 'publish', L.channel_of(each[1]), each[2] .. key)
    end
  end
end)() end
