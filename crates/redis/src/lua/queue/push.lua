-- push: this operation puts an item in.
-- keys   records order
-- args   priority due most window group_bytes key_bytes group key about, and the payload by itself
-- reply  pushed duplicate
-- error  SEINPAALARGUMENT
-- cost   one HGET if there is a key, three if there is a group
--
-- A push of an item that is due at once and has no group and no key travels packed.
-- due: - at once, +US after so long, @US at that time. group, key and about are written one after the other.

function ledger.due_of(text)
  local kind, at = match(text, '^([+@])(%d+)$')
  if text == '-' then return nil end
  at = ledger.moment(at, 'the due time')
  at = kind == '+' and now + at or at
  return at > now and min(at, UNBOUNDED) or nil
end

function ledger.new_item(ask)
  local number = ledger.next_number()
  local item = {
    number = number, standing = 'r', priority = ask.priority, most = ask.most, bytes = #ask.payload, attempt = 0,
    pushed = now, group = ask.group, key = ask.key, about = ask.about, history = '',
  }
  item.rank = ledger.rank(number, item)
  return item
end

function ledger.push(ask)
  local known = ask.key ~= '' and ledger.key_of(ask.key)
  if known and known.till > now then return format('duplicate %d', known.number) end
  local item = ledger.new_item(ask)
  if ask.key ~= '' and ask.window > 0 then ledger.put_key(ask.key, now + ask.window, item.number) end
  ledger.write('p' .. pack(NUMBER, item.number), ask.payload)
  if ask.due then ledger.delay(item, ask.due) else ledger.make_ready(item) end
  return format('pushed %d', item.number)
end

function ledger.operations.push(text, payload)
  if sub(text, 1, 1) == ':' and #text >= 6 then text = format('%d - %d 0 0 0 ', read(PUSH, text, 2)) .. sub(text, 7) end
  local priority, due, most, window, group_bytes, key_bytes, rest =
    match(text, '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (.*)$')
  if not priority or not payload or #payload > MOST_BYTES then
    ledger.refuse('SEINPAALARGUMENT', 'a push has its arguments and a payload')
  end
  group_bytes = ledger.number(group_bytes, 0, 512, 'the length of the group')
  key_bytes = ledger.number(key_bytes, 0, 512, 'the length of the key')
  local ask = {
    payload = payload, priority = ledger.number(priority, -100, 100, 'the priority'), due = ledger.due_of(due),
    most = ledger.number(most, 1, MOST_DELIVERIES, 'the most deliveries'),
    window = ledger.number(window, 0, MAX_WINDOW, 'the window'),
    group = sub(rest, 1, group_bytes), key = sub(rest, group_bytes + 1, group_bytes + key_bytes),
    about = sub(rest, group_bytes + key_bytes + 1),
  }
  if #ask.about > MOST_TEXT then ledger.refuse('SEINPAALARGUMENT', 'what is said about an item is too long') end
  return function() return ledger.push(ask) end
end
