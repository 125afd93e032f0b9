-- Executes the requests of a call, name by name, each as if it had come alone, and answers.
--
-- KEYS   for each name its hash and its order; with the restart guard, the marker
-- ARGV   for each name its requests; with the restart guard, its length
--
-- The answer is a text, or a list with a text or an error for each of several names. If bit 8 of the
-- first name's options is set, all names are acquired or none: a name that is not granted ends the
-- call, the names before it are given up again, and the answers end with its answer.

local names, answers, progress = math.floor(#KEYS / 2), {}, { has_written = false }

for name = 1, names do
  progress.has_written = false
  local ok, answer = pcall(step, name, ARGV[name], progress, guard, VERSION, HEAD, HEAD_SIZE, RECORD,
    RECORD_SIZE, ROW, ROW_SIZE, add_records, add_serving, add_expiry, add_acquire, add_general, add_named)
  if not ok then
    local L = { progress = progress }
    add_records(L)
    answer = redis.error_reply(L.refusal_of(answer))
  end
  answers[name] = answer

  local is_together = name < 256 and string.byte(ARGV[1], 2) >= 8
  if is_together and (not ok or string.byte(answer, 18) ~= 1) then
    -- Gives up the names before this one. The start and the ticket of an acquire become a cancel,
    -- which remembers the ticket for the ttl of the acquire.
    for before = name - 1, 1, -1 do
      local argument = ARGV[before]
      local ttl = string.sub(argument, 69, 76)
      local cancel = string.sub(argument, 1, 34) .. struct.pack('<BI2', 5, 28) .. string.sub(argument, 38, 57) .. ttl
      pcall(step, before, cancel, progress, guard, VERSION, HEAD, HEAD_SIZE, RECORD, RECORD_SIZE, ROW,
        ROW_SIZE, add_records, add_serving, add_expiry, add_acquire, add_general, add_named)
    end
    return answers
  end
end
if names == 1 then return answers[1] end
return answers
