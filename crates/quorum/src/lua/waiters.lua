-- Waiters. A node serves nobody of its own accord: it says who is next.

-- How many waiters, and how many votes, are looked at.
local HINTED, LISTED = 16, 64
-- A step of priority is worth ten seconds of waiting.
local AGING = 10 * SECOND

-- Puts a waiter under the lease of its place. One step of the clock must not take more than half of
-- a place.
local function stand(waiter, want)
  join(waiter, want.waiter_ttl, min(want.margin, floor(want.waiter_ttl / 2)))
  put(waiter)
end

local function enqueue(want)
  head.arrival = max(head.arrival + 1, head.clock)
  head.waiting = head.waiting + 1
  stand({
    kind = 't', id = want.ticket, lease = want.waiter_lease, inbox = me, permits = want.permits,
    ttl = want.ttl, since = now, rank = head.arrival - want.priority * AGING,
    priority = want.priority, is_parked = false, about = want.about,
  }, want)
end

-- Renews the place of a waiter that asks again. It keeps its rank. If it was parked, it returns to
-- the order of service.
local function stand_again(waiter, want)
  part(waiter)
  waiter.lease, waiter.inbox, waiter.is_parked = want.waiter_lease, me, false
  stand(waiter, want)
end

local function park(waiter)
  waiter.is_parked = true
  put(waiter)
  local lease = get('l', waiter.lease)
  if lease then
    lease.parked = lease.parked + 1
    put(lease)
  end
end

-- Gives how many permits a newcomer has to leave free: as many as the reachable waiters want.
local function wanted_by_waiters()
  if head.waiting == 0 then return 0 end
  if head.waiting > LISTED then return MOST_PERMITS end
  local wanted = 0
  for _, member in ipairs(listed('q', LISTED)) do
    local waiter = row_of('t', member)
    if waiter.inbox and is_listening(waiter.inbox) then wanted = wanted + waiter.permits end
  end
  return wanted
end

-- Tells the first waiters that fit to ask again. Gives those of the client that asks, which it is
-- told in the answer.
local function hint()
  local looks, limit, room = {}, limit_now(), limit_now() - head.held
  if not has_freed or head.waiting == 0 or head.paused then return looks end
  for _, member in ipairs(listed('q', HINTED)) do
    local waiter = row_of('t', member)
    if waiter.permits > limit and limit > 0 then
      end_ticket(waiter, 'toomany')
    elseif waiter.inbox and not is_listening(waiter.inbox) then
      park(waiter)
    elseif waiter.permits > room then
      break
    elseif waiter.inbox then
      room = room - waiter.permits
      if waiter.inbox == me then
        looks[#looks + 1] = waiter.id
      else
        -- A grant with the fence 0 is a hint.
        wake(waiter.inbox, words('granted', waiter.id, 0, ',', limit))
      end
    end
  end
  return looks
end

-- state. Answers with the greatest fence, the settings with their versions, the tickets of the
-- client that may ask again, and the reason of the pause.
local function state_line()
  local looks = hint()
  drop_terms()
  return words('state', head.fence, head.stated_version, head.stated or '-1', head.pinned_version,
    head.pinned or '-1', head.pause_version, #looks > 0 and table.concat(looks, ',') or '-',
    head.paused and '1' .. head.paused or '0')
end
