-- line_renew: renews a whole lease or place at a line, or a lease as a proof that one ticket still
--   stands under it.
-- keys   records order
-- args   as lean has them
-- reply  of a proof fence slot permits
-- cost   nothing

        else
          local ttl, margin, number, mixed, fields_at
          if operation == 3 then
            ttl, margin, number, mixed = read('<dddd', line, TERMS_AT)
            fields_at = place and place + 1 or s + 56
            local members, digest = read('<Bd', text, fields_at)
            if members == 0 or members ~= number or digest ~= mixed then break end
            fields_at = place and place + 10 or s + 77
          else
            number, ttl, margin = read('<I4dd', line, TERMS_AT)
            local at, its, size, its_number, permits, slot, its_fence, _ =
              LINE_SIZE + 1 + count * SESSION_SIZE + 8 * ranges, nil, nil, nil
            while at < line_at do
              its, size = byte(text, at, at + 1)
              if its == mine then
                its_number, permits, slot, _, _, its_fence = read('<I4I4I4ddd', text, at + 2)
                if its_number == number then break end
              end
              at = at + LINE_TICKET_SIZE + size
            end
            if at >= line_at then break end
            local told = pack('<dI4I4', its_fence, slot, permits)
            said = said and said .. told or told
            fields_at = s + 77
          end
          if not (ttl >= MIN_TTL and ttl <= MAX_TTL) then break end
          from = (ARGV[2] and LINE_SIZE or LINE_TIMES_END) + 1
          p1, p2, p3 = sub(text, from, fields_at - 1), pack('<dd', clock + ttl, now + ttl),
            sub(text, fields_at + 16)
          if now + ttl < due then due = now + ttl end
          if margin < bound then bound = margin end
          is_done = true
        end
      until true
      if not is_done then break end
