-- begin: this piece reads the arguments in words, and the clock.
-- keys   records order
-- args   now sender
-- reply  nothing; the pieces after this one build on it
-- cost   one TIME

local given_now = ARGV[1]
local try, floor, char, concat, find = redis.pcall, math.floor, string.char, table.concat, string.find
if #ARGV < 2 or #ARGV[2] ~= 56 then return redis.error_reply('SEINPAALARGUMENT the sender') end
local number, not_after, seen, session = struct.unpack(SENDER, ARGV[2])
-- What most functions capture stands last: see state.
local byte, read, asker, sub = string.byte, struct.unpack, session, string.sub
local match, call, min, pack, format, max = string.match, redis.call, math.min, struct.pack, string.format, math.max

-- `now` is given only by tests.
local now
if read_now then
  now = read_now
elseif given_now ~= '' then
  now = tonumber(given_now or '?')
else
  local time = call('time')
  now = time[1] * 1000000 + time[2]
end
