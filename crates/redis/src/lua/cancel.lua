-- cancel: gives a ticket up in any state, and refuses it if it arrives later.
-- keys   records order
-- args   ticket remember attach
-- reply  cancelled
-- cost   as release; for an unknown ticket one HSET and one ZADD
--
-- remember: for how long an unknown ticket is refused.
-- attach: `-`, or the lease of an attach that is given up. Then the ticket is given up only if the
-- attach was executed.

function ledger.cancel(ticket, time, attach)
  local entry, refused = ledger.entry_of(ticket), attach or ticket
  if entry and ledger.may_end(entry) and (not attach or entry.lease == attach) then
    ledger.release_all(entry, 'cancelled')
  elseif not ledger.entry_of(refused) then
    ledger.raise(refused, time, 0, not ledger.cause_of(refused) and 'cancelled' or nil)
  end
  return 'cancelled ' .. ticket
end

ledger.operations.cancel = function(text)
  local ticket, remembered, attach = match(text, '^(%S+) (%S+) (%S+)$')
  ledger.id(ticket, 'the ticket')
  local time = ledger.number(remembered, 0, MAX_TTL, 'the time to remember')
  local lease = attach ~= '-' and ledger.id(attach, 'the lease') or nil
  return function() return ledger.cancel(ticket, time, lease) end
end
