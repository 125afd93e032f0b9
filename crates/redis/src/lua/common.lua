-- What the scripts of names and of queues share: whether clients can be reached, and what a refusal says.
--
-- All is in the table `L`, as in names/ledger.lua. It has before: key, now, asker, is_sharded (in a cluster),
-- is_moving (the hash slot is on its way to this node).

local function add_common(L)
  -- Which inboxes are listened at.
  L.there = {}

  function L.channel_of(inbox)
    local start = L.is_sharded and L.key .. ':inbox:' or string.match(L.key, '^[^{]*') .. 'inbox:'
    return start .. string.format(string.rep('%02x', 16), string.byte(inbox, 1, 16))
  end

  -- After a fail-over or a move of the hash slot, clients have to find the new node first. So for 15
  -- seconds no client counts as gone. The first call that misses a listener there starts that time, which
  -- then is to be written into the field m.
  function L.is_settling()
    if not L.is_sharded then return false end
    if L.settles == nil then
      local here, home = redis.call('cluster', 'myid'), redis.call('hget', L.key, 'm')
      local till = home and string.sub(home, 1, #here) == here and tonumber(string.sub(home, #here + 2))
      if not till then
        till = L.now + 15 * 1000000
        L.home = here .. ' ' .. string.format('%.0f', till)
      end
      L.settles = L.now < till and till <= L.now + 15 * 1000000
    end
    return L.settles
  end

  -- The sender is there. A node that is being given the hash slot cannot tell who listens.
  function L.is_there(inbox)
    if inbox == L.asker or L.is_moving then return true end
    if L.there[inbox] == nil then
      local command = L.is_sharded and 'shardnumsub' or 'numsub'
      L.there[inbox] = redis.call('pubsub', command, L.channel_of(inbox))[2] > 0 or L.is_settling()
    end
    return L.there[inbox]
  end

  -- Turns an error that a script or Redis raised into an answer. A script cannot take back its writes, so
  -- after one the state may be torn.
  function L.refusal_of(raised, has_written)
    local text = type(raised) == 'table' and (raised.refusal or raised.err) or tostring(raised)
    text = string.gsub(text, '[\r\n]', ' ')
    if string.find(text, 'OOM', 1, true) then text = 'SEINPAALOOM the server has no memory left' end
    if string.find(text, 'WRONGTYPE', 1, true) then text = 'SEINPAALCORRUPT the key has another type' end
    if string.find(text, 'data string too short', 1, true) then text = 'SEINPAALCORRUPT a value ends too early' end
    local code = string.match(text, '^SEINPAAL%u+')
    if has_written then return 'SEINPAALTORN' .. (code and string.sub(text, #code + 1) or ' ' .. text) end
    return code and text or string.match(text, '^%-?(%u%u+ .*)$') or string.match(text, '%-(%u%u+ .*)$')
      or 'SEINPAALFAILED ' .. text
  end
end
