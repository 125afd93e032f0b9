-- fast_head: this piece of the fast path reads the head of a queue in a plain state, and the session.
-- keys   records order
-- args   none of its own
-- reply  nothing
-- cost   nothing; one EXISTS for a new queue
--
-- A queue is in a plain state if no lease has run out, no item has fallen due, no worker is in line, and no session and
-- no key is to be forgotten yet.

  local version, has_more, listed, FIELDS_OF_HEAD = nil, 0, ''
  if text then
    if #text < HEAD_BYTES then break end
    version, has_more, FIELDS_OF_HEAD = read(HEAD, text)
    if version ~= VERSION or has_more ~= 0 then break end
    listed = #text > HEAD_BYTES and sub(text, HEAD_BYTES + 1) or ''
  else
    if not is_push or SETTLING or try('exists', records, order) ~= 0 then break end
    FIELDS_OF_HEAD = BLANKS_OF_HEAD
  end
  clock, wall, last = clock + min(max(now - wall, 0), bound), now, max(last, min(seen, MOST_SEEN))
  if in_work > 0 and (first_end <= clock or first_wall <= now) then break end
  if (delayed > 0 and first_due <= now) or (sessions > 0 and first_session < now) or (keys > 0 and first_key <= now) then break end
  -- Tables have room from the start: to grow is dear.
  local stands, set, add, del, remove, answer = not_after, { nil, nil, nil, nil, nil, nil, nil, nil }, { nil, nil }, nil, nil, { '', nil, nil, nil }
  -- What is kept of the answers, in pieces, and how many.
  local kept, keeps = { nil, nil, nil, nil }, 0
  if session then
    if #session < SESSION_BYTES then break end
    local known, _
    known, _, stands = read(SESSION, session)
    if number <= known or not_after < stands then break end
  else
    if #asker ~= 32 or match(asker, '[^0-9a-f]') then break end
    if number > 0 then
      sessions, first_session = sessions + 1, min(first_session, not_after)
      add[1], add[2] = '0', 's' .. pack(NUMBER, not_after) .. asker
    end
  end
  if number > 0 then
    if now > not_after then break end
    memory = max(memory, not_after)
  end
