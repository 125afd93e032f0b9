-- lean_words: what was not as simple, put as the rest of the script expects it.
-- keys   records order
-- args   as lean has them; then those of acquire, release and renew
-- reply  nothing
-- cost   nothing

  local first = ARGV[1]
  if #first < RELEASE_AT then return redis.error_reply('SEINPAALARGUMENT the request cannot be read') end
  local given, seen, asker = read('<ddc32', first, 2)
  local lines = { given >= 0 and string.format('%.0f', given) or '', asker, '', '' }
  for i = 1, #ARGV do
    local line = ARGV[i]
    local operation = byte(line)
    lines[i + 3] = sub(line, operation == 1 and ACQUIRE_AT or operation == 2 and RELEASE_AT or operation == 4 and PROOF_AT or RENEW_AT)
  end
  ARGV, packed_seen = lines, seen
end
