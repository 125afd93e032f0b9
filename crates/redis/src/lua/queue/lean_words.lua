-- lean_words: this piece puts a request that was not as simple as the rest of the script expects it.
-- keys   records order
-- args   as lean has them; then now sender request...
-- reply  nothing
-- error  SEINPAALARGUMENT
-- cost   nothing
--
-- The rest goes on with the head and the session that were read.

  if size < 0 then return redis.error_reply('SEINPAALARGUMENT the request cannot be read') end
  local given = read('<d', line, 2)
  local words = { given >= 0 and string.format('%.0f', given) or '', sub(line, 10, 33) .. sub(line, 35, 66) }
  if operation == 1 then
    words[3], words[4] = 'push:' .. sub(line, REQUEST_AT), ARGV[2]
  elseif operation == 2 then
    words[3] = 'pop:\1' .. sub(line, REQUEST_AT)
  else
    words[3] = 'acknowledge:' .. sub(line, REQUEST_AT, DONE_ENDS - 1)
    words[4] = operation == 4 and 'pop:\1' .. sub(line, DONE_ENDS) or nil
  end
  ARGV = words
end
