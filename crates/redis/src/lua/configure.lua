-- configure: change what is stored with the name.
-- keys   records order
-- args   what value
-- reply  configured other-kind
-- cost   one HSET, and serving whom the change lets in
--
-- what: limit, unpin, pause, resume  value: the limit, the reason, or nothing

local changes = {
  limit = function(value) head.kind, head.pinned = 's', value + 0 end,
  unpin = function() head.pinned = nil end,
  pause = function(value) head.paused = value end,
  resume = function() head.paused = nil end,
}

ledger.operations.configure = function(text)
  local what, value = match(text, '^(%a+) (.*)$')
  local change = changes[what or '']
  if not change then ledger.refuse('SEINPAALARGUMENT', 'configure cannot be read') end
  if what == 'limit' then ledger.permits_of(value, 0, 'the limit') end
  return function()
    ledger.drop_terms()
    if what == 'limit' and (head.kind == 'm' or head.kind == 'r') then return 'other-kind - ' .. head.kind .. ' s' end
    change(value)
    ledger.serve()
    return format('configured %d', ledger.limit_now())
  end
end
