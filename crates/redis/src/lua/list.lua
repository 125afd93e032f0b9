-- list: gives the totals of many names, and the first waiters of each. It only reads: a name that
--   has to be settled first is left to inspect.
-- keys   records order
-- args   now inbox fence_seen rows
-- reply  snapshot unused look
-- cost   one HGET for each name; where tickets wait two ZRANGEBYLEX and one HMGET; where
--        something may have run out one HGETALL
--
-- The keys of the names follow each other. With the restart guard, the marker follows those of the
-- first name.
--
-- There is an answer for each name, in their order: a snapshot as inspect gives it, without
-- holders; `unused`; or `look`, for a name that inspect would settle first, or of which too much
-- would have to be read here.

local MOST_LISTED = 1024
local rows_left, rows_wanted = MOST_LISTED, tonumber(ARGV[4] or '?')
if not now or not rows_wanted then
  return redis.error_reply('SEINPAALARGUMENT the clock or the rows')
end
if #KEYS % 2 == 1 then table.remove(KEYS, 3) end

-- Tells whether a lease of a name with few rows may have ended by now. fields: the rows of a line,
-- which it does not have on the server.
local function has_ended(key, clock, fields)
  local all = fields and {} or try('hgetall', key)
  if all.err then return true end
  for field, row in pairs(fields or {}) do
    all[#all + 1] = field
    all[#all + 1] = row
  end
  for i = 1, #all, 2 do
    local record = sub(all[i], 1, 1) == 'r'
      and (parse_record(sub(all[i], 2), all[i + 1]) or { lease = { ends = 0 } })
    local lease = record and record.lease
    if lease and (lease.ends <= clock or lease.ends_wall <= now) then return true end
  end
  return false
end

-- Adds the waiters, first those that can be served. Gives false if they cannot be read.
local function add_waiters(answer, key, list, line, in_line)
  local fields, members = {}, {}
  for k = 1, line and min(#in_line, rows_wanted, rows_left) or 0 do members[k] = in_line[k] end
  for _, band in ipairs(line and {} or { 'q', 'k' }) do
    local most, above = min(rows_wanted, rows_left) - #members, band == 'q' and '(r' or '(l'
    local page = most > 0
      and try('zrangebylex', list, '[' .. band, above, 'limit', '0', format('%d', most)) or {}
    if page.err then return false end
    for _, member in ipairs(page) do
      members[#members + 1] = sub(member, 10)
      fields[#fields + 1] = 't' .. sub(member, 10)
    end
  end
  local texts = #fields > 0 and try('hmget', key, unpack(fields)) or {}
  for i, ticket in ipairs(members) do
    local row = line and line['t' .. ticket] or texts[i]
    local entry = row and parse_entry(ticket, row)
    if not entry or entry.fence then return false end
    answer[i + 1] = waiter_row(entry)
  end
  rows_left = rows_left - #members
  return true
end

-- Answers for a value that is head and record in one. There are no waiters, and nothing is
-- configured.
local function told_alone(form, text)
  local clock, wall, kind, limit, held, holders, recent, ranges, left, ends, ends_wall, _
  if form == FIRST_VERSION then
    if #text < FIRST_SIZE then return 'look' end
    _, _, _, wall, _, _, kind, limit, held, _, left, _, recent = read(FIRST, text, 58)
    holders = 1
  else
    if #text < LONE_SIZE then return 'look' end
    holders, _, clock, wall, _, _, _, _, ends, ends_wall = read(LONE, text, 58)
    _, _, _, kind, limit, held, _, recent, ranges = read(LONE_MORE, text, LONE_MORE_AT)
    left = min(ends - clock, ends_wall - wall)
    if form == LONE_VERSION and #text < LONE_SIZE + 8 * ranges then return 'look' end
  end
  if holders == 0 then return 'unused' end
  if max(now - wall, 0) >= left then return 'look' end
  return { 'snapshot '
    .. totals_row(string.char(kind), limit, limit, -1, held, holders, 0, recent, false) }
end

local function told(key, list)
  local text = try('hget', key, 'h')
  local form = type(text) == 'string' and string.byte(text)
  if form == IDLE_VERSION and #text >= IDLE_SIZE then return 'unused' end
  local is_alone = form == FIRST_VERSION or form == LONE_VERSION or form == APART_VERSION
    or form == CROWD_VERSION
  if is_alone then return told_alone(form, text) end
  local line, in_line, _
  if form == LINE_VERSION then
    _, text, line, in_line = pcall(unfold_line, text)
    if not line then return 'look' end
  end
  if not form or #text < HEAD_SIZE then return 'look' end
  local version, FIELDS_OF_HEAD, ranges = read(HEAD, text)
  if version ~= VERSION or #text < HEAD_SIZE + 8 * ranges then return 'look' end
  local is_paused = flags % 2 == 1
  if holders + waiting == 0 and pinned < 0 and not is_paused then return 'unused' end
  local step, limit = max(now - wall, 0), pinned >= 0 and pinned or stated >= 0 and stated or 1
  if waiting > 0 and held < limit and not is_paused and guarded_for == 0 then return 'look' end
  if holders + waiting > 0 and passed + step >= due then
    if flags % 4 >= 2 or has_ended(key, clock + min(step, bound), line) then return 'look' end
  end
  if waiting > 0 and rows_left < min(waiting, rows_wanted) then return 'look' end
  local answer = { 'snapshot ' .. totals_row(kind, limit, stated, pinned, held, holders, waiting,
    recent, is_paused and sub(text, HEAD_SIZE + 8 * ranges + 1)) }
  if waiting > 0 and not add_waiters(answer, key, list, line, in_line) then return 'look' end
  return answer
end

local answers = {}
for at = 1, #KEYS, 2 do answers[#answers + 1] = told(unpack(KEYS, at, at + 1)) end
return answers
