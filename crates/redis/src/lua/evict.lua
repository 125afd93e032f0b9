-- evict: ends another client's lease or place in the queue, and tells that client.
-- keys   records order
-- args   ticket
-- reply  evicted unknown
-- cost   as release

function ledger.evict(ticket)
  local entry = ledger.entry_of(ticket)
  if entry then
    ledger.end_entry(entry, 'evicted')
    ledger.settle()
    return 'evicted ' .. ticket
  end
  return (ledger.cause_of(ticket) == 'evicted' and 'evicted ' or 'unknown ') .. ticket
end

ledger.operations.evict = function(text)
  local ticket = ledger.id(text, 'the ticket')
  return function() return ledger.evict(ticket) end
end
