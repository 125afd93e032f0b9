-- lean_words: writes requests that the lean path left as the words that the rest of the script
--   expects.
-- keys   records order
-- args   those of lean; from here on those of begin and of acquire, release and renew
-- reply  nothing
-- cost   nothing

  local words = { '', '', '', '' }
  for i = 1, #ARGV do
    local line = ARGV[i]
    local operation, size = byte(line), #line
    local least = operation == 1 and ABOUT_AT - 1 or operation == 2 and RELEASE_SIZE
      or operation == 3 and RENEW_SIZE or PROOF_SIZE
    if not operation or operation > 4 or size < least then
      return redis.error_reply('SEINPAALARGUMENT the request cannot be read')
    end
    local given, seen, asker, series = read('<ddc32c24', line, 2)
    if i == 1 then
      words[1], words[2], packed_seen =
        given >= 0 and string.format('%.0f', given) or '', asker, seen
    end
    if operation == 1 then
      local number, _, permits, limit, kind, ttl, margin, not_after, rule, most, priority,
        place_ttl, place = read(ACQUIRE_WORDS, line, TERMS_AT)
      words[i + 3] = 'acquire:'
        .. pack(ASK, series .. string.format('%08x', number), number, 1, kind, permits, rule, limit,
          ttl, margin, not_after, most, priority, place_ttl)
        .. series .. '00000000' .. place .. sub(line, ABOUT_AT)
    elseif operation == 2 then
      words[i + 3] = string.format('release %s%08x all', series, (read('<I4', line, TERMS_AT)))
    elseif operation == 4 then
      local number, ttl, margin = read('<I4dd', line, TERMS_AT)
      words[i + 3] = string.format('renew %s00000000 %.0f %.0f tickets %s%08x', series, ttl, margin,
        series, number)
    else
      words[i + 3] = string.format('renew %s00000000 %.0f %.0f all %.0f %.0f', series,
        read(RENEW_WORDS, line, TERMS_AT))
    end
  end
  ARGV = words
end
