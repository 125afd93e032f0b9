-- arguments: has what reads the arguments of requests.
-- keys   records order
-- args   none of its own
-- reply  nothing
-- error  SEINPAALARGUMENT
-- cost   nothing but time

-- The readers of requests, by kind; and the operations, by the first word of a request that has
-- words. Each gives a function that executes the request. A reader also gives where the next
-- request begins, and which operation this one is.
ledger.readers, ledger.operations, ledger.payloads = {}, {}, 0

function ledger.taken(is_whole, ...)
  if not is_whole then ledger.refuse('SEINPAALARGUMENT', 'the request cannot be read') end
  return ...
end

function ledger.take(form, at) return ledger.taken(pcall(read, form, line, at)) end

function ledger.number(given, least, most, what)
  local n = tonumber(given)
  if not n or not (n >= least and n <= most) or n % 1 > 0 then
    ledger.refuse('SEINPAALARGUMENT', what .. ' is ' .. format('%.0f', least) .. ' to '
      .. format('%.0f', most) .. ', not ' .. sub(tostring(given), 1, 40))
  end
  return n
end

function ledger.moment(given, what) return ledger.number(given, 0, UNBOUNDED, what) end

-- Reads the number of an item, which need not exist. No item has a number above 2^53.
function ledger.item_number(text)
  if not text or not match(text, '^%d+$') then
    ledger.refuse('SEINPAALARGUMENT', 'an item has a number')
  end
  return min(tonumber(text), UNBOUNDED)
end

function ledger.check_text(text, most, what)
  if #text > most then ledger.refuse('SEINPAALARGUMENT', what .. ' is too long') end
end

ledger.readers[WORDS] = function(at)
  local _, text, next_at = ledger.take(WORDS_TERMS, at)
  local operation, given = match(text, '^(%a+) ?(.*)$')
  if not ledger.operations[operation or ''] then
    ledger.refuse('SEINPAALARGUMENT', 'no such operation here')
  end
  return ledger.operations[operation](given), next_at, operation
end
