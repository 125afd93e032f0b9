-- evict: end somebody's lease or place in the queue, and tell them.
-- keys   records order
-- args   ticket
-- reply  evicted unknown
-- cost   as release

local function evict(ticket)
  local entry = entry_of(ticket)
  if entry then
    end_entry(entry, 'evicted')
    settle()
    return 'evicted ' .. ticket
  end
  return (cause_of(ticket) == 'evicted' and 'evicted ' or 'unknown ') .. ticket
end

operations.evict = function(text)
  local ticket = id(text, 'the ticket')
  return function() return evict(ticket) end
end
