-- line: executes requests at a name where a few sessions take turns (LINE) with one read and one
--   write.
-- keys   records order
-- args   as lean has them
-- reply  of one release or renewal after which nobody has to look in, now; otherwise a string: now
--        below zero, in how long to look in (-1: not at all), what line_acquire says of an acquire,
--        and of a proof fence slot permits
-- cost   one TIME, one HGET, one HSET; to hand over, one PUBSUB and one PUBLISH; one PUBSUB where
--        the first waiter wants more than is free; PEXPIRE if the keys would expire too early
--
-- Lean has read the value. A request changes a few places of it: text is the value before the
-- request, and p1 to p8 are its parts after the request. Any case that is not as simple breaks out
-- before anything is written.
-- The pieces up to line_end are one block. line_session finds the session of a request.
--   line_acquire, line_release and line_renew execute the request. line_serve gives free slots to
--   waiters. line_end writes and answers.

  repeat
    local text, line = head_text, ARGV[1]
    if not text or #text < IDLE_SIZE then break end
    if byte(text) ~= LINE_VERSION then
      -- A lone value becomes a line here when a second session comes, or when a ticket of its own
      -- session has to wait.
      local form, free, causes, tickets = byte(text), '', '', ''
      local uses, last, clock, wall, fence, deadline, till, size, kind, limit, held, bound, term,
        digest, members, ends, ends_wall, top, recent
      if byte(line) ~= 1 then break end
      if form == IDLE_VERSION then
        uses, last, clock, wall, fence, deadline, till, recent = read(IDLE, text, 58)
        kind, limit, held, bound, digest, members, ends, ends_wall, top =
          45, 0, 0, UNBOUNDED, 0, 0, 0, 0, 0
        causes = sub(text, IDLE_SIZE + 1)
        size = #causes
      elseif form == FIRST_VERSION and #text >= FIRST_SIZE then
        uses, last, clock, wall, deadline, till, kind, limit, held, bound, term, digest, recent =
          read(FIRST, text, 58)
        fence, size, members, ends, ends_wall, top = wall, 0, 1, clock + term, wall + term, held
        tickets = pack(LINE_TICKET, 1, #text - FIRST_SIZE, last, held, 0, term, wall, wall)
          .. sub(text, FIRST_SIZE + 1)
      elseif form == LONE_VERSION and #text >= LONE_SIZE then
        local ranges
        members, digest, clock, wall, fence, bound, deadline, term, ends, ends_wall =
          read(LONE, text, 58)
        uses, last, till, kind, limit, held, top, recent, ranges, size =
          read(LONE_MORE, text, LONE_MORE_AT)
        local at = LONE_SIZE + 8 * ranges + size + 1
        free, causes = sub(text, LONE_SIZE + 1, at - size - 1), sub(text, at - size, at - 1)
        while at + TICKET_SIZE <= #text + 1 do
          local number, permits, ttl, since, its_fence, slot, about = read(TICKET, text, at)
          at = at + TICKET_SIZE + about
          tickets = tickets
            .. pack(LINE_TICKET, 1, about, number, permits, slot, ttl, since, its_fence)
            .. sub(text, at - about, at - 1)
        end
        if at ~= #text + 1 then break end
      else
        break
      end
      local left = till - clock
      if members > 0 then
        left = ends - clock
        if left > ends_wall - wall then left = ends_wall - wall end
      end
      text = pack(PACK_LINE, LINE_VERSION, clock, wall, fence, bound, wall + left, deadline, 0,
        recent, LINE_SIZE + SESSION_SIZE + #free + #tickets + 1, 0, uses, 0, kind, 1, members,
        #free / 8, size, limit, held, top)
        .. pack(LINE_SESSION, sub(text, 2, 33), sub(text, 34, 57), members, digest, last, till,
        ends, ends_wall, size) .. free .. tickets .. causes
    end
    -- Numbers of one byte are read without a format.
    local clock, wall, fence, bound, due, deadline, arrival, recent = read('<dddddddd', text, 2)
    local line_at, high, waiting, uses, places, kind, count, holders, ranges, tail, tail_high =
      byte(text, 66, 76)
    local limit, held, top
    line_at, tail = line_at + 256 * high, tail + 256 * tail_high
    do
      -- The parts of a value that was cut short add up to more than it has. The general path says
      -- so.
      local at = line_at
      for _ = 1, waiting do at = at + LINE_WAITER_SIZE + (byte(text, at + 1) or 0) end
      if at + places * PLACE_SIZE + tail ~= #text + 1 then break end
    end
    if ARGV[2] or byte(line) < 3 or waiting > 0 then
      limit, held, top = read('<I4I4I4', text, 77)
    end
    local given, seen, who = read('<ddc56', line, 2)
    local now = given
    if now < 0 then
      now = read_now
      if not now then
        local time = redis.call('time')
        now = time[1] * 1000000 + time[2]
        read_now = now
      end
    end
    local step = now - wall
    if step < 0 then break end
    clock = clock + (step < bound and step or bound)
    if seen > fence then fence = seen end
    if now >= due then
      -- Due is only a bound, so the first end is looked up here.
      local left = UNBOUNDED
      for at = LINE_SIZE + 57, LINE_SIZE + 57 + (count - 1) * SESSION_SIZE, SESSION_SIZE do
        local members, _, _, till, ends, ends_wall = read('<BdI4ddd', text, at)
        if members > 0 then
          if ends - clock < left then left = ends - clock end
          if ends_wall - now < left then left = ends_wall - now end
        elseif till > 0 and till - clock < left then
          left = till - clock
        end
      end
      for at = #text - tail - places * PLACE_SIZE + 1, #text - tail, PLACE_SIZE do
        local ends, ends_wall = read('<dd', text, at + 10)
        if ends - clock < left then left = ends - clock end
        if ends_wall - now < left then left = ends_wall - now end
      end
      if left <= 0 then break end
      due = now + left
    end
    if waiting > 0 and held < limit then
      -- The first waiter wants more permits than are free. It holds up the waiters behind it only
      -- as long as its client listens. The general path parks it. The general path also serves a
      -- waiter that wants no more than is free: an earlier version of the scripts could leave one.
      if read('<I4', text, line_at + 6) <= limit - held then break end
      local h = LINE_SIZE + 1 + (byte(text, line_at) - 1) * SESSION_SIZE
      local inbox = sub(text, h, h + 31)
      if LISTENERS and inbox ~= sub(who, 1, 32) then
        local listeners =
          try('pubsub', LISTENERS, string.match(key, BEFORE_INBOX) .. INBOX .. inbox)[2]
        if not listeners or listeners == 0 then break end
      end
    end
