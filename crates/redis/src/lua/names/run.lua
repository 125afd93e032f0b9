-- Executes the requests of a call, name by name, each as if it had come alone, and answers.
--
-- KEYS   for each name its hash and its order; with the restart guard, the marker
-- ARGV   for each name its requests; with the restart guard, its length
--
-- The answer is a text, or a list with a text or an error for each of several names. If bit 8 of the first
-- name's options is set, all names are acquired or none: a name that is not granted ends the call, the names
-- before it are given up again, and the answers end with its answer.

local answers = {}

local function execute(name, argument)
  local progress = { has_written = false }
  local ok, answer = pcall(step, name, argument, progress, guard, VERSION, HEAD, HEAD_SIZE, RECORD,
    RECORD_SIZE, ROW, ROW_SIZE, add_ledger, add_rare, add_rows, add_named)
  if not ok then
    local L = {}
    add_common(L)
    answer = redis.error_reply(L.refusal_of(answer, progress.has_written))
  end
  return answer
end

-- The start and the ticket of an acquire become a cancel, which remembers the ticket for the ttl of the
-- acquire.
local function cancel_of(acquire)
  local clock = string.byte(acquire) % 32 >= 16 and string.sub(acquire, -8) or ''
  return string.sub(acquire, 1, 25) .. struct.pack('<BI2', 5, 28) .. string.sub(acquire, 29, 48)
    .. string.sub(acquire, 60, 67) .. clock
end

for name = 1, names do
  answers[name] = execute(name, ARGV[name])
  local is_together = string.byte(ARGV[1]) % 16 >= 8
  if is_together and (type(answers[name]) == 'table' or string.byte(answers[name], 17) ~= 1) then
    for before = name - 1, 1, -1 do execute(before, cancel_of(ARGV[before])) end
    return answers
  end
end
if names == 1 then return answers[1] end
return answers
