-- configure: changes a setting of the name: its limit, the names of its slots, or a pause.
-- keys   records order
-- args   what value
-- reply  configured other-kind slots-in-use
-- cost   one HSET, and what it costs to serve the waiters that the change lets in
--
-- what: limit, slots, unpin, pause or resume. value: the limit, the names, the reason, or nothing.

local changes = {
  limit = function(value)
    head.kind, head.pinned = 's', value + 0
    ledger.call_slots('')
  end,
  slots = function(value)
    head.kind = 's'
    ledger.call_slots(value)
    head.pinned = #ledger.names_list()
  end,
  unpin = function()
    head.pinned = nil
    ledger.call_slots('')
  end,
  pause = function(value) head.paused = value end,
  resume = function() head.paused = nil end,
}

ledger.operations.configure = function(text)
  local what, value = match(text, '^(%a+) (.*)$')
  local change = changes[what or '']
  if not change then ledger.refuse('SEINPAALARGUMENT', 'configure cannot be read') end
  if what == 'limit' then ledger.permits_of(value, 0, 'the limit') end
  if what == 'slots' and not match(value, '^[^ ;:,][^ ;:]*$') then
    ledger.refuse('SEINPAALARGUMENT', 'the names cannot be read')
  end
  return function()
    ledger.drop_terms()
    if (what == 'limit' or what == 'slots') and (head.kind == 'm' or head.kind == 'r') then
      return 'other-kind - ' .. head.kind .. ' s'
    end
    if what ~= 'pause' and what ~= 'resume'
        and not ledger.may_be_called(what == 'slots' and value or '') then
      return 'slots-in-use ' .. head.names
    end
    change(value)
    ledger.serve()
    return format('configured %d', ledger.limit_now())
  end
end
