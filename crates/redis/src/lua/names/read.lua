-- Reads many names: the totals of each, and its first waiters. It writes nothing. A name at which something
-- has run out, or that cannot be read, is left to inspect.
--
-- KEYS   for each name its hash and its order; with the restart guard, the marker
-- ARGV   how many waiters to list of each name at most, the time or ''; with the guard, its length
-- The answer is a list: for each name 'unused', 'look', or the totals and rows as inspect has them.

local most, now, answers = tonumber(ARGV[1]), tonumber(ARGV[2]), {}
-- The most waiters that one call lists.
local rows_left = 96
if not now then
  local time = redis.call('time')
  now = time[1] * 1000000 + time[2]
end

local function told(key, order)
  local head = redis.call('hget', key, 'h')
  if not head then return redis.call('exists', key) == 1 and 'look' or 'unused' end
  if string.byte(head) ~= VERSION or #head < HEAD_SIZE then return 'look' end
  local L = { key = key, order = order, now = now, guard = guard, records = {}, texts = {}, known = {} }
  local _, flags, wall
  _, L.kind, flags, _, L.limit, L.held, L.holders, L.waiting, L.top, L.clock, wall, L.fence, L.bound, L.due =
    struct.unpack(HEAD, head)
  local shift = #head > HEAD_SIZE and struct.unpack('<d', head, HEAD_SIZE + 1) or 0
  local passed = now - wall
  if passed < 0 then shift, passed = shift - passed, 0 end
  L.clock = L.clock + math.min(passed, L.bound)
  L.is_paused, L.is_pinned, L.is_stated, L.is_named = flags % 2 == 1, flags % 4 >= 2, flags % 8 >= 4, flags >= 8
  local may_grant = L.waiting > 0 and L.held < L.limit and not L.is_paused and not (guard and guard(now) > 0)
  -- A look also removes a name of which only memories were left, and these are over.
  if L.due <= now + shift or may_grant then return 'look' end
  if L.held + L.waiting == 0 and not L.is_pinned and not L.is_paused then return 'unused' end

  local rows = {}
  add_ledger(L, RECORD, RECORD_SIZE, ROW, ROW_SIZE)
  add_rows(L)
  L.list_waiters(rows, math.min(most, rows_left), '')
  rows_left = rows_left - #rows
  return '\21' .. L.totals() .. struct.pack('<I2', 3) .. 'end' .. struct.pack('<I2', #rows) .. table.concat(rows)
end

for at = 1, #KEYS - 1, 2 do
  local ok, answer = pcall(told, KEYS[at], KEYS[at + 1])
  answers[#answers + 1] = ok and answer or 'look'
end
return answers
