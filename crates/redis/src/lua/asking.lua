-- asking: asks a holder to hand over its permits. It ends nothing.
-- keys   records order
-- args   ticket lease ask: who asks and why, with the byte 30 between them
-- reply  asked queued ended unknown
-- cost   HGET of head, entry and leases, one HSET, one PUBLISH
--
-- The asks stand behind the holder's description of itself. Each ask is the byte 29, the time for
-- which the ticket had been held, the byte 30, and the asker with its reason.

ledger.most_asks = 8

-- Gives the text with this ask added, or nothing if it has this ask already.
function ledger.asked(about, ask, after)
  local said, asks = match(about, '^[^\29]*'), {}
  for held_for, kept in string.gmatch(sub(about, #said + 1), '\29(%d+)\30([^\29]*)') do
    if kept == ask then return nil end
    asks[#asks + 1] = '\29' .. held_for .. '\30' .. kept
  end
  asks[#asks + 1] = '\29' .. format('%d', after) .. '\30' .. ask
  return said .. table.concat(asks, '', max(#asks - ledger.most_asks + 1, 1))
end

-- Gives the lease under which a ticket stands once its holder was asked again. Where the ticket was
-- attached to, this lease follows from the lease of the attach, so that a repetition of the attach
-- and its cancel find their grant.
function ledger.lease_apart(entry, drawn)
  if ledger.series_of(entry.lease) == ledger.series_of(entry.ticket) then return drawn end
  local apart = ledger.apart(entry.lease)
  -- An earlier ask has set the ticket apart. Without one, the client itself drew this number.
  if apart == entry.lease and string.find(entry.about, '\29', 1, true) then return apart end
  return ledger.lease_of(apart) and drawn or apart
end

-- Puts the ticket under another lease, which differs from the old one only in its id. So the next
-- renewal of the old lease finds a difference, and the holder renews by ticket. The answer to that
-- renewal has the asks.
function ledger.set_apart(entry, apart)
  local lease = ledger.lease_of(entry.lease)
  if lease and not ledger.lease_of(apart) then
    ledger.put_lease({
      id = apart, inbox = lease.inbox, ttl = lease.ttl, ends = lease.ends,
      ends_wall = lease.ends_wall,
      members = 0, digest = 0, parked = 0,
    })
  end
  if entry.lease ~= apart then
    ledger.part(entry)
    entry.lease = apart
    ledger.join(entry, entry.ttl, UNBOUNDED)
  end
  ledger.put_entry(entry)
end

function ledger.ask_holder(ticket, apart, ask)
  local entry = ledger.entry_of(ticket)
  if not entry then
    local cause = ledger.cause_of(ticket)
    return cause and 'ended ' .. ticket .. ' ' .. cause or 'unknown ' .. ticket
  end
  if not entry.fence then return ledger.told(entry) end
  local about = ledger.asked(entry.about, ask, max(now - entry.since, 0))
  if about then
    apart = ledger.lease_apart(entry, apart)
    entry.about = about
    ledger.set_apart(entry, apart)
    ledger.wake(entry, 'asked ' .. ticket)
  end
  return 'asked ' .. ticket
end

ledger.operations.ask = function(text)
  local ticket, apart, ask = match(text, '^(%S+) (%S+) ([^\30]+\30[^\30]+)$')
  if not ticket then ledger.refuse('SEINPAALARGUMENT', 'ask cannot be read') end
  ledger.id(ticket, 'the ticket')
  ledger.id(apart, 'the lease')
  return function() return ledger.ask_holder(ticket, apart, ask) end
end
