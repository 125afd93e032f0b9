-- node: makes a node of a quorum out of the ledger. A node never grants of its own accord, but says
--   which waiter is next; and each setting of a name has a version.
-- keys   records order marker
-- args   set: version what value; state: nothing
-- reply  set stale other-kind state
-- cost   set: one HGET, two HSET; state: one HGET, and one ZRANGEBYLEX if something was freed
--
-- The field v of the records has three numbers: the versions of the stated limit, of the pinned
-- limit, and of the pause. A limit that an acquire states in passing has no version, and a stated
-- limit that has ended loses its version.

local HINTED = 16

ledger.has_freed = false

function ledger.serve() end

-- A node remembers each ticket by itself, and not by series. A vote that was taken back may come
-- again when a later ticket of the same series has ended already, and other nodes may receive them
-- in another order.
function ledger.series_of(ticket)
  return ticket
end

local free_slots, leave = ledger.free_slots, ledger.leave
function ledger.free_slots(slots)
  ledger.has_freed = true
  free_slots(slots)
end

-- Waiters behind a waiter that leaves may fit now.
function ledger.leave(entry)
  ledger.has_freed = true
  leave(entry)
end

-- Tells a waiter that fits to ask. The answer names the asker's own tickets.
function ledger.hint(waiter, looks)
  if waiter.inbox == asker then
    looks[#looks + 1] = waiter.ticket
  else
    ledger.wake(waiter, format('granted %s 0 , %d', waiter.ticket, ledger.limit_now()))
  end
end

function ledger.hints()
  local looks, room = {}, ledger.limit_now() - head.held
  if not ledger.has_freed or head.waiting == 0 or head.paused then return looks end
  for _, member in ipairs(ledger.rows_of('q', 'r', HINTED)) do
    local waiter = ledger.entry_of(sub(member, 10))
    if not waiter then ledger.corrupt('a ticket that is listed is not there') end
    if waiter.permits > ledger.limit_now() and ledger.limit_now() > 0 then
      ledger.end_entry(waiter, 'toomany')
    elseif waiter.inbox and not ledger.is_listening(waiter.inbox) then
      ledger.park(waiter)
    elseif waiter.permits > room then
      break
    elseif waiter.inbox then
      room = room - waiter.permits
      ledger.hint(waiter, looks)
    end
  end
  return looks
end

function ledger.versions()
  local text = not ledger.is_fresh and call('hget', records, 'v') or '0 0 0'
  local limit, pin, pause = match(text, '^(%d+) (%d+) (%d+)$')
  return { limit = head.stated and limit + 0 or 0, pin = pin + 0, pause = pause + 0 }
end

function ledger.keep_versions(versions)
  call('hset', records, 'v', format('%d %d %d', versions.limit, versions.pin, versions.pause))
end

local settings = {
  limit = { 'limit', function(value) head.kind, head.stated = 's', value + 0 end },
  pin = { 'pin', function(value) head.kind, head.pinned = 's', value + 0 end },
  unpin = { 'pin', function() head.pinned = nil end },
  pause = { 'pause', function(value) head.paused = value end },
  resume = { 'pause', function() head.paused = nil end },
}

function ledger.set(version, what, value)
  local setting = settings[what]
  ledger.drop_terms()
  if (what == 'limit' or what == 'pin') and (head.kind == 'm' or head.kind == 'r') then
    return 'other-kind - ' .. head.kind .. ' s'
  end
  local versions = ledger.versions()
  local register, change = setting[1], setting[2]
  if version < versions[register] then return format('stale %d', versions[register]) end
  change(value)
  versions[register] = version
  ledger.flush(true)
  ledger.keep_versions(versions)
  ledger.is_fresh, ledger.has_freed = false, true
  return format('set %d', ledger.limit_now())
end

ledger.operations.set = function(text)
  local version, what, value = match(text, '^(%d+) (%a+) (.*)$')
  if not settings[what or ''] then ledger.refuse('SEINPAALARGUMENT', 'set cannot be read') end
  version = ledger.number(version, 0, UNBOUNDED, 'the version')
  if what == 'limit' or what == 'pin' then ledger.permits_of(value, 0, 'the limit') end
  return function() return ledger.set(version, what, value) end
end

-- Answers with the settings, the asker's tickets that could be granted now, and the reason of the
-- pause.
ledger.operations.state = function()
  return function()
    ledger.drop_terms()
    local looks, versions = ledger.hints(), ledger.versions()
    return format('state %d %d %d %d %d %d %s %s', head.fence, versions.limit,
      head.stated or -1, versions.pin, head.pinned or -1, versions.pause,
      #looks > 0 and table.concat(looks, ',') or '-', head.paused and '1' .. head.paused or '0')
  end
end
