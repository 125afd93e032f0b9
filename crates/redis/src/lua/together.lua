-- together: acquires several names: all are granted or none.
-- keys   those of each name, name after name
-- args   names, and for each name: how many arguments acquire has, these, and the line that cancels
--        it
-- reply  granted and an answer for each name; or refused, which name (from 0), and the answer of
--        that name
-- cost   an acquire for each name
--
-- The scripts of acquire and cancel stand before this piece, each as a function of its keys and
-- arguments.

local names, at, calls = tonumber(ARGV[1]), 2, {}
local width = #KEYS / names
for i = 1, names do
  local keys, args, count = {}, {}, tonumber(ARGV[at])
  for k = 1, width do keys[k] = KEYS[(i - 1) * width + k] end
  for a = 1, count do args[a] = ARGV[at + a] end
  calls[i] = { keys = keys, args = args, cancel = ARGV[at + count + 1] }
  at = at + count + 2
end

-- Gives the arguments of a call, with its acquire or with another request in its place. They are
-- copied, because a script may change its arguments.
local function arguments(call, line)
  local copy = {}
  for i, argument in ipairs(call.args) do copy[i] = argument end
  copy[4] = line or copy[4]
  return copy
end

local answers = { 'granted' }
for i, call in ipairs(calls) do
  local answer = acquire(call.keys, arguments(call))
  if answer.err or string.sub(answer[2], 1, 8) ~= 'granted ' then
    for k = i - 1, 1, -1 do cancel(calls[k].keys, arguments(calls[k], calls[k].cancel)) end
    return answer.err and answer or { string.format('refused %d', i - 1), answer }
  end
  answers[i + 1] = answer
end
return answers
