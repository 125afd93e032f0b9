-- refusal: turns an error that a script or Redis raised into an answer, for names and queues alike.
-- keys   records order
-- args   none
-- reply  nothing
-- error  SEINPAALCORRUPT SEINPAALTORN SEINPAALOOM SEINPAALFAILED
-- cost   nothing, or what had to be written when the error came

-- A script that was ended by an error cannot take back its writes. It writes the rest, and the
-- answer says that the state may be torn.
function ledger.refusal_of(raised)
  if ledger.has_written then pcall(ledger.flush, true) end
  if type(raised) == 'table' and raised.refusal then
    if ledger.has_written then
      return (string.gsub(raised.refusal, '^SEINPAALCORRUPT', 'SEINPAALTORN'))
    end
    return raised.refusal
  end
  local text = type(raised) == 'table' and raised.err or tostring(raised)
  if string.find(text, 'OOM', 1, true) then return 'SEINPAALOOM the server has no memory left' end
  if string.find(text, 'WRONGTYPE', 1, true) then
    return (ledger.has_written and 'SEINPAALTORN' or 'SEINPAALCORRUPT')
      .. ' the key has another type'
  end
  local plain = string.gsub(text, '[\r\n]', ' ')
  if ledger.has_written then return 'SEINPAALTORN ' .. plain end
  return match(plain, '^%-?(%u%u+ .*)$') or match(plain, '%-(%u%u+ .*)$')
    or 'SEINPAALFAILED ' .. plain
end
