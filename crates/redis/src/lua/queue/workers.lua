-- workers: chooses the workers that are called for available items, and the one that watches for
--   events that no request causes.
-- keys   records order
-- args   session
-- reply  nothing
-- cost   if workers are in line or called, one ZRANGEBYLEX for each of the two, and one PUBSUB for
--        the first in line

local IN_LINE, CALLED = '>c1c1I8c32I4', '>c1I8c32c1I8I4'

-- Places. The record of a place is its member of the order. A worker that drains the queue has a 0
-- in its member, and so stands first.

function ledger.parse_place(member)
  local place, ok, _ = { member = member }
  if sub(member, 1, 1) == 'l' then
    ok, _, place.drains, place.till, place.inbox, place.want = pcall(read, IN_LINE, member)
  else
    ok, _, place.since, place.inbox, place.drains, place.till, place.want =
      pcall(read, CALLED, member)
  end
  if not ok then ledger.corrupt('the place of a worker') end
  return place
end

function ledger.put_place(place)
  local prefix = place.since and 'k' or 'l'
  local member
  if place.since then
    member = pack(CALLED, 'k', place.since, place.inbox, place.drains, place.till, place.want)
  else
    member = pack(IN_LINE, 'l', place.drains, place.till, place.inbox, place.want)
  end
  ledger.place(place, 'member', prefix, member)
  ledger.write('l' .. place.inbox, member)
  head.memory = max(head.memory, place.till)
end

function ledger.remove_place(place)
  if place.since then
    head.called = max(head.called - 1, 0)
    head.wanted = max(head.wanted - place.want, 0)
  else
    head.idle = max(head.idle - 1, 0)
  end
  ledger.place(place, 'member', nil, nil)
  ledger.write('l' .. place.inbox, false)
end

function ledger.leave_line(inbox)
  local member = head.idle + head.called > 0 and ledger.record('l' .. inbox)
  if member then ledger.remove_place(ledger.parse_place(member)) end
end

function ledger.stand_in_line(want, drains)
  head.idle = head.idle + 1
  ledger.put_place({ inbox = asker, want = want, drains = drains, till = now + PLACE_TTL })
end

function ledger.first_place(letter, counted)
  if counted == 0 then return nil end
  local member = ledger.first(letter) or ledger.corrupt('a place that is counted is not there')
  return ledger.parse_place(member)
end

-- A place that ends later than a new one would end was given before the clock was set back.
function ledger.is_in_time(place)
  local is_watch = head.watch == place.inbox and place.inbox ~= asker
  local has_overslept = is_watch and head.watch_at + CALL_WAIT < now
  return now < place.till and place.till <= now + PLACE_TTL and not has_overslept
end

-- Gives the first worker in line that can be reached. A worker that cannot be reached loses its
-- place. So does a worker whose place has ended, and a watch that has not looked in time. When such
-- a worker is back, it asks again.
function ledger.first_reachable()
  while true do
    local place = ledger.first_place('l', head.idle)
    if not place then return nil end
    if ledger.is_in_time(place) and ledger.is_listening(place.inbox) then return place end
    if not ledger.has_work() then return nil end
    ledger.remove_place(place)
  end
end

function ledger.end_places()
  while true do
    local place = ledger.first_place('l', head.idle)
    if not place or ledger.is_in_time(place) or not ledger.has_work() then return end
    ledger.remove_place(place)
  end
end

-- Calling.

-- Tells whether another item may be in work.
function ledger.delivers()
  return not head.paused and (not head.limit or head.in_work < head.limit)
end

-- Gives the number of items that could be delivered now. Of a group it counts one item: the worker
-- that takes it makes the next one available.
function ledger.available()
  if not ledger.delivers() then return 0 end
  return head.limit and min(head.open, head.limit - head.in_work) or head.open
end

function ledger.call_worker(place)
  head.idle = max(head.idle - 1, 0)
  head.called = head.called + 1
  head.wanted = head.wanted + place.want
  place.since = now
  ledger.put_place(place)
  ledger.wake(place.inbox, 'called')
end

-- Skips workers that have not answered a call within a second. They can ask again at any time.
function ledger.forget_unanswered_calls()
  while true do
    local place = ledger.first_place('k', head.called)
    if not place or math.abs(now - place.since) < CALL_WAIT or not ledger.has_work() then return end
    ledger.remove_place(place)
  end
end

function ledger.call_those_that_drain()
  while true do
    local first = ledger.first_reachable()
    if not first or first.drains ~= '0' or not ledger.has_work() then return end
    ledger.call_worker(first)
  end
end

function ledger.call_workers()
  ledger.forget_unanswered_calls()
  if head.ready + head.delayed + head.in_work == 0 then ledger.call_those_that_drain() end
  while head.wanted < ledger.available() do
    local first = ledger.first_reachable()
    if not first or not ledger.has_work() then return end
    ledger.call_worker(first)
  end
end

-- Watching.

-- Gives the time of the next event that no request causes. A look at least once every `bound` keeps
-- the ledger's clock at full speed.
function ledger.next_event()
  local at = UNBOUNDED * 2
  if head.delayed > 0 and ledger.delivers() then at = ledger.sure_item('d').at end
  if head.in_work > 0 then
    local left = max(ledger.sure_item('e').ends - head.clock, 0)
    at = min(at, now + min(left, head.bound))
  end
  local called = ledger.first_place('k', head.called)
  if called then at = min(at, called.since + CALL_WAIT) end
  return at < UNBOUNDED * 2 and at or nil
end

-- Tells the first worker in line when the next such event comes, unless it will look by then
-- anyway.
function ledger.tell_watch()
  local at = head.idle > 0 and ledger.next_event()
  local first = at and ledger.first_reachable()
  if not first then
    head.watch = nil
    return '-'
  end
  local look_in = max(at - now, 1)
  local will_look = head.watch == first.inbox and head.watch_at <= at and head.watch_at > now
  if first.inbox ~= asker and will_look then return '-' end
  head.watch, head.watch_at = first.inbox, now + look_in
  if first.inbox == asker then return format('%d', look_in) end
  ledger.wake(first.inbox, format('watch %d', look_in))
  return '-'
end
