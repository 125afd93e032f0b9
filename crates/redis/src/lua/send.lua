-- send: how rows and members go out, of a name and of a queue alike.
-- keys   records order
-- args   none
-- reply  nothing
-- cost   a command for each thousand

function ledger.send(command, key, list)
  for from = 1, #list, 1000 do
    call(command, key, unpack(list, from, min(from + 999, #list)))
    ledger.has_written = true -- only now: the first may be refused, and then nothing is torn
  end
end

-- What is to be listed, each with its score, and what is to be listed no more.
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
