-- pack: packs and unpacks the head and the items of a queue.
-- keys   records order
-- args   none
-- reply  nothing
-- cost   nothing but time

-- first_*: lower bounds of when the first lease ends, the first item falls due, and the first
-- session or key is forgotten, so that most calls need not read the order. memory: until when a
-- session, a key or a place is remembered at most. deadline: when the keys expire by themselves; 0
-- for never.
local function blank_head()
  return { UNTOUCHED_HEAD, idle = 0, called = 0, wanted = 0, watch_at = 0 }
end

-- Reads a text that may be missing. A text that is there has a letter before it.
local function text_or_nil(text)
  return text ~= '' and sub(text, 2) or nil
end

-- Gives nothing if the text is damaged.
local function parse_head(text)
  if #text < HEAD_BYTES or byte(text) ~= VERSION then return nil end
  local _, has_more, FIELDS_OF_HEAD = read(HEAD, text)
  local h = { TABLE_OF_HEAD, idle = 0, called = 0, wanted = 0, watch_at = 0 }
  if has_more == 0 then return (#text - HEAD_BYTES) % LISTED_BYTES == 0 and h or nil end
  local ok, watch, paused, reopen
  ok, h.idle, h.called, h.wanted, h.watch_at, watch, paused, reopen =
    pcall(read, MORE, text, HEAD_BYTES + 1)
  if not ok then return nil end
  h.watch = watch ~= NOBODY and watch or nil
  h.paused, h.reopen = text_or_nil(paused), text_or_nil(reopen)
  return h
end

local function pack_head(h)
  local paused, reopen = h.paused and ':' .. h.paused or '', h.reopen and ':' .. h.reopen or ''
  local has_more = h.idle + h.called > 0 or paused ~= '' or reopen ~= ''
  local text = pack(HEAD, VERSION, has_more and 1 or 0, HEAD_AS_PACKED)
  if not has_more then return text end
  return text .. pack(MORE, h.idle, h.called, h.wanted, h.watch_at, h.watch or NOBODY, #paused,
    paused, #reopen, reopen)
end

-- The ledger's clock advances by at most the bound. So a server's clock that jumps forward ends no
-- lease whose worker is alive, and a clock that jumps back delays nothing.
local function advance_clock(h)
  local passed = max(now - h.wall, 0)
  h.wall = now
  h.clock = h.clock + min(passed, h.bound)
end

-- Standing: o ready and in the order of all, r ready but not in that order, d delayed, w in work, x
-- dead.
local function pack_item(item)
  local standing, text = item.standing, ''
  local worked_about = standing == 'w' and item.worked_about or ''
  if standing == 'w' then
    text = pack(WORKED, item.fence, item.since, item.ttl, item.ends, item.ends_wall, item.by)
  elseif standing == 'd' or standing == 'x' then
    text = pack('<d', item.at)
  end
  return pack(ITEM, standing, item.priority, item.most, item.bytes, item.attempt, item.pushed,
    item.rank, #item.group, #item.key, #item.about, #item.history, #worked_about) .. text
    .. item.group .. item.key .. item.about .. item.history .. worked_about
end

-- Gives nothing if the text is damaged.
local function parse_item(number, text)
  local item, at = { number = number }, ITEM_BYTES + 1
  local sizes, fields = {}, { 'group', 'key', 'about', 'history', 'worked_about' }
  if #text < ITEM_BYTES then return nil end
  item.standing, item.priority, item.most, item.bytes, item.attempt, item.pushed, item.rank,
    sizes[1], sizes[2], sizes[3], sizes[4], sizes[5] = read(ITEM, text)
  if item.standing == 'w' and #text >= ITEM_BYTES + WORKED_BYTES then
    item.fence, item.since, item.ttl, item.ends, item.ends_wall, item.by, at =
      read(WORKED, text, at)
  elseif (item.standing == 'd' or item.standing == 'x') and #text >= ITEM_BYTES + 8 then
    item.at, at = read('<d', text, at)
  elseif item.standing ~= 'o' and item.standing ~= 'r' then
    return nil
  end
  for i, field in ipairs(fields) do
    item[field] = sub(text, at, at + sizes[i] - 1)
    at = at + sizes[i]
  end
  return at == #text + 1 and item or nil
end
