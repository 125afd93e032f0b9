-- send: sends rows and members to the server, for names and queues alike.
-- keys   records order
-- args   none
-- reply  nothing
-- cost   a command for each 1 000 values

function ledger.send(command, key, list)
  for from = 1, #list, 1000 do
    call(command, key, unpack(list, from, min(from + 999, #list)))
    -- The write is noted only after the command: if the server refuses the first one, nothing is
    -- torn.
    ledger.has_written = true
  end
end

-- Gives the members to add, each behind its score, and the members to remove.
function ledger.sort_placed()
  local add, remove = {}, {}
  for member, is_there in pairs(ledger.placed) do
    if is_there then
      add[#add + 1] = '0'
      add[#add + 1] = member
    else
      remove[#remove + 1] = member
    end
  end
  return add, remove
end
