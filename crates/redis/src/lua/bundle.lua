-- bundle: executes batches about different names, each as if it had come alone.
-- keys   those of each name, name after name
-- args   names, and for each name: how many arguments its batch has, and these
-- reply  the answer to each batch, in their order; a batch that fails has its error as answer
-- cost   a step for each name
--
-- The script of step stands before this piece, as a function of its keys and arguments.

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
