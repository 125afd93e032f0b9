-- ask: this piece has what reads the arguments of a request.
-- keys   records order
-- args   none of its own
-- reply  nothing
-- error  SEINPAALARGUMENT
-- cost   nothing but time

ledger.operations = {}

function ledger.number(text, least, most, what)
  local n = text and match(text, '^%-?%d+$') and tonumber(text)
  if not n or n < least or n > most then
    ledger.refuse('SEINPAALARGUMENT', what .. ' is ' .. format('%.0f', least) .. ' to ' .. format('%.0f', most)
      .. ', not ' .. sub(tostring(text), 1, 40))
  end
  return n
end

function ledger.moment(text, what) return ledger.number(text, 0, UNBOUNDED, what) end

-- A number of an item, which may be none: there is nothing above 2^53.
function ledger.item_number(text)
  if not text or not match(text, '^%d+$') then ledger.refuse('SEINPAALARGUMENT', 'an item has a number') end
  return min(tonumber(text), UNBOUNDED)
end

function ledger.ttl_of(text) return ledger.number(text, MIN_TTL, MAX_TTL, 'the ttl') end
