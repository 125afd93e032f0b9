-- time: ends the leases that have run out, and forgets old sessions and keys.
-- keys   records order
-- args   session
-- reply  nothing
-- cost   at most WORK items are ended, and FORGET sessions and keys forgotten, and one more of each
--        for each request; what is left is the backlog

-- Tells whether the queue came to this node so lately that its listeners may not be here yet. The
-- field n has the node where the queue was last at home. The first call that misses a listener at
-- another node starts the time of settling.
function ledger.is_settling()
  if SETTLING and ledger.settles == nil then
    local here, home = call('cluster', 'myid'), ledger.record('n')
    local till = home and sub(home, 1, #here) == here and tonumber(sub(home, #here + 2))
    if not till then
      till = now + SETTLING
      ledger.home = format('%s %d', here, till)
    end
    ledger.settles = now < till and till <= now + SETTLING
  end
  return ledger.settles
end

function ledger.wake(inbox, what)
  ledger.wakeups[#ledger.wakeups + 1] = { inbox = inbox, what = what }
end

function ledger.wake_lost(item)
  ledger.wake(item.by, format('lost %d %d', item.number, item.fence))
end

-- Ends a delivery in vain. Its ending becomes a line of the item's history, which has at most eight
-- lines.
function ledger.fail(item, delay, ending)
  local past = format('%d\31%d\31', item.attempt, now) .. ending
  local _, ends = string.gsub(item.history, '\30', '')
  if item.history == '' then
    item.history = past
  else
    local kept = ends + 1 >= MOST_PAST and match(item.history, '^[^\30]*\30(.*)$') or item.history
    item.history = kept .. '\30' .. past
  end
  if item.attempt < item.most then
    ledger.put_back(item, delay)
    return 'returned'
  end
  head.dead = head.dead + 1
  item.standing, item.at = 'x', now
  ledger.put_item(item)
  return 'died'
end

function ledger.end_delivery(item)
  ledger.wake_lost(item)
  ledger.stop_work(item)
  ledger.fail(item, 0, 'expired\31')
end

function ledger.expire_by_clock()
  while head.in_work > 0 and head.first_end <= head.clock do
    local item = ledger.sure_item('e')
    head.first_end = item.ends
    if item.ends > head.clock or not ledger.has_work() then return end
    ledger.end_delivery(item)
  end
end

-- If the worker of a lease listens, only the ledger's clock can end the lease: the server's clock
-- may have jumped.
function ledger.expire_by_wall()
  while head.in_work > 0 and head.first_wall <= now do
    local item = ledger.sure_item('w')
    head.first_wall = item.ends_wall
    if item.ends_wall > now or not ledger.has_work() then return end
    if ledger.is_listening(item.by) then
      item.ends_wall = now + max(item.ends - head.clock, 1)
      ledger.put_item(item)
    else
      ledger.end_delivery(item)
    end
  end
end

-- Sessions. The order has a session at the end that it had when it was put there, while later
-- batches move that end. So a session that goes on costs no change of the order until the earlier
-- end has come.

function ledger.write_session(inbox, number, till, stands, lines)
  ledger.write('s' .. inbox, pack(SESSION, number, till, stands) .. lines)
  head.memory = max(head.memory, till)
end

function ledger.stand_session(inbox, till)
  ledger.add('s', 's' .. pack(NUMBER, till) .. inbox)
  head.first_session = min(head.first_session, till)
end

function ledger.put_session(known, number, till, lines)
  local stands = known and known.stands
  if not known then head.sessions = head.sessions + 1 end
  if stands and till < stands then
    ledger.remove('s' .. pack(NUMBER, stands) .. asker)
    stands = nil
  end
  if not stands then ledger.stand_session(asker, till) end
  ledger.write_session(asker, number, till, stands or till, lines)
end

function ledger.session_of(inbox)
  local text = ledger.record('s' .. inbox)
  if not text then return nil end
  if #text < 24 then ledger.corrupt('session ' .. inbox) end
  local number, till, stands, at = read(SESSION, text)
  return { number = number, till = till, stands = stands, lines = sub(text, at) }
end

function ledger.forget_sessions(left)
  while left > 0 and head.sessions > 0 and head.first_session < now do
    local member = ledger.first('s')
    if not member then ledger.corrupt('a session that is counted is not there') end
    head.first_session = read(NUMBER, member, 2)
    if head.first_session >= now then return end
    local inbox = sub(member, 10)
    local known = ledger.session_of(inbox)
      or ledger.corrupt('a session that is listed is not there')
    ledger.remove(member)
    if known.till > known.stands then
      ledger.stand_session(inbox, known.till)
      ledger.write_session(inbox, known.number, known.till, known.till, known.lines)
    else
      head.sessions, left = head.sessions - 1, left - 1
      ledger.write('s' .. inbox, false)
    end
  end
end

-- Keys.

function ledger.key_of(key)
  local text = ledger.record('k' .. key)
  if not text then return nil end
  if #text ~= 16 then ledger.corrupt('key ' .. key) end
  local till, number = read(KEY, text)
  return { till = till, number = number }
end

function ledger.remove_key(key, known)
  ledger.remove('t' .. pack(NUMBER, known.till) .. key)
  ledger.write('k' .. key, false)
end

function ledger.put_key(key, till, number)
  local known = ledger.key_of(key)
  if known then
    ledger.remove_key(key, known)
  else
    head.keys = head.keys + 1
  end
  ledger.add('t', 't' .. pack(NUMBER, till) .. key)
  ledger.write('k' .. key, pack(KEY, till, number))
  head.first_key, head.memory = min(head.first_key, till), max(head.memory, till)
end

-- Forgets the key of a cancelled item, so that it may be pushed again.
function ledger.forget_key_of(item)
  local known = item.key ~= '' and ledger.key_of(item.key)
  if not known or known.number ~= item.number then return end
  head.keys = max(head.keys - 1, 0)
  ledger.remove_key(item.key, known)
end

function ledger.forget_keys(left)
  while left > 0 and head.keys > 0 and head.first_key <= now do
    local member = ledger.first('t')
    if not member then ledger.corrupt('a key that is counted is not there') end
    head.first_key = read(NUMBER, member, 2)
    if head.first_key > now then return end
    head.keys, left = head.keys - 1, left - 1
    ledger.remove_key(sub(member, 10), { till = head.first_key })
  end
end
