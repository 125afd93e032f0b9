-- pack: how the head and items are packed.
-- keys   records order
-- args   none
-- reply  nothing
-- cost   nothing but time

-- first_*: lower bounds, so that most calls need not look at the order. memory: until when a session, a key or
-- a place is remembered, at most. deadline: when the keys expire by themselves; 0: never.
local function blank_head()
  return {
    clock = 0, wall = 0, bound = UNBOUNDED, last = 0, ready = 0, open = 0, delayed = 0, in_work = 0, dead = 0,
    idle = 0, called = 0, wanted = 0, sessions = 0, keys = 0, watch_at = 0, first_end = UNBOUNDED,
    first_wall = UNBOUNDED, first_due = UNBOUNDED, first_session = UNBOUNDED, first_key = UNBOUNDED, memory = 0,
    deadline = 0,
  }
end

-- A text that may be missing has a letter before it.
local function text_or_nil(text)
  return text ~= '' and sub(text, 2) or nil
end

-- Nothing if it cannot be read.
local function parse_head(text)
  if #text < HEAD_BYTES or byte(text) ~= 1 then return nil end
  local h = {}
  local _, limit, group_limit, watch, paused, reopen
  _, limit, group_limit, h.clock, h.wall, h.bound, h.last, h.ready, h.open, h.delayed, h.in_work, h.dead, h.idle,
    h.called, h.wanted, h.sessions, h.keys, h.watch_at, h.first_end, h.first_wall, h.first_due, h.first_session,
    h.first_key, h.memory, h.deadline, watch, paused, reopen = read(HEAD, text)
  h.limit, h.group_limit = limit >= 0 and limit or nil, group_limit >= 0 and group_limit or nil
  h.watch = watch ~= NOBODY and watch or nil
  h.paused, h.reopen = text_or_nil(paused), text_or_nil(reopen)
  return h
end

local function pack_head(h)
  local paused, reopen = h.paused and ':' .. h.paused or '', h.reopen and ':' .. h.reopen or ''
  return pack(HEAD, 1, h.limit or -1, h.group_limit or -1, h.clock, h.wall, h.bound, h.last, h.ready, h.open,
    h.delayed, h.in_work, h.dead, h.idle, h.called, h.wanted, h.sessions, h.keys, h.watch_at, h.first_end,
    h.first_wall, h.first_due, h.first_session, h.first_key, h.memory, h.deadline, h.watch or NOBODY,
    #paused, paused, #reopen, reopen)
end

-- A clock that jumps forward ends no lease whose worker is alive, one that jumps backward delays nothing.
local function advance_clock(h)
  local passed = max(now - h.wall, 0)
  h.wall = now
  h.clock = h.clock + min(passed, h.bound)
end

-- Standing: o ready and in the order of all, r ready and not, d delayed, w in work, x dead.
local function pack_item(item)
  local text = pack(ITEM, item.standing, item.priority, item.most, item.bytes, item.attempt, item.pushed, item.rank,
    #item.group, item.group, #item.key, item.key, #item.about, item.about, #item.history, item.history)
  if item.standing == 'w' then
    return text .. pack(WORKED, item.fence, item.by, item.since, item.ttl, item.ends, item.ends_wall,
      #item.worked_about, item.worked_about)
  end
  return (item.standing == 'd' or item.standing == 'x') and text .. pack('<d', item.at) or text
end

-- Nothing if it cannot be read.
local function parse_item(number, text)
  local item, at, _ = { number = number }
  local function parse()
    item.standing, item.priority, item.most, item.bytes, item.attempt, item.pushed, item.rank, item.group, item.key,
      item.about, item.history, at = read(ITEM, text)
    if item.standing == 'w' then
      item.fence, item.by, item.since, item.ttl, item.ends, item.ends_wall, item.worked_about = read(WORKED, text, at)
    elseif item.standing == 'd' or item.standing == 'x' then
      item.at = read('<d', text, at)
    end
  end
  return pcall(parse) and match(item.standing, '^[ordwx]$') and item or nil
end
