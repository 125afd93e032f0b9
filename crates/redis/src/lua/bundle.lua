-- bundle: batches about different names, each executed as if it came by itself.
-- keys   those of each name, name after name
-- args   names, and for each name: how many arguments its batch has, and these
-- reply  the answer to each batch, in their order; an error in one of them is its answer
-- cost   that of step a name
--
-- Before this piece stands the script of step, made a function of its keys and arguments.

local names, at, answers = tonumber(ARGV[1]), 2, {}
local width, pcall, unpack = #KEYS / names, pcall, unpack
for i = 1, names do
  local last = at + tonumber(ARGV[at])
  local ok, answer = pcall(batch, { unpack(KEYS, (i - 1) * width + 1, i * width) },
    { unpack(ARGV, at + 1, last) })
  if not ok then
    local text = type(answer) == 'table' and answer.err or tostring(answer)
    answer = redis.error_reply('ERR ' .. string.gsub(text, '[\r\n]', ' '))
  end
  answers[i], at = answer, last + 1
end
return answers
