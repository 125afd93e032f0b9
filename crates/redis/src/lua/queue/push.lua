-- push: puts an item into the queue.
-- keys   records order
-- args   PUSH or PUSH_MORE, and the payload by itself
-- reply  pushed duplicate
-- error  SEINPAALARGUMENT
-- cost   one HGET if there is a key, three if there is a group
--
-- How an item is due: 0 at once, 1 after so long, 2 at that time.

function ledger.due_of(how, due)
  local at = (how == 1 and now or 0) + ledger.moment(due, 'the due time')
  return how > 0 and at > now and min(at, UNBOUNDED) or nil
end

function ledger.new_item(push)
  local number = ledger.next_number()
  local item = {
    number = number, standing = 'r', priority = push.priority, most = push.most,
    bytes = #push.payload,
    attempt = 0,
    pushed = now, group = push.group, key = push.key, about = push.about, history = '',
  }
  item.rank = ledger.rank(number, item)
  return item
end

function ledger.push(push)
  local known = push.key ~= '' and ledger.key_of(push.key)
  if known and known.till > now then return format('duplicate %d', known.number) end
  local item = ledger.new_item(push)
  if push.key ~= '' and push.window > 0 then
    ledger.put_key(push.key, now + push.window, item.number)
  end
  ledger.write('p' .. pack(NUMBER, item.number), push.payload)
  if push.due then ledger.delay(item, push.due) else ledger.make_ready(item) end
  return format('pushed %d', item.number)
end

function ledger.read_push(at)
  local kind, priority, most, about, next_at = ledger.take(PUSH_TERMS, at)
  local how, due, window, group, key = 0, 0, 0, '', ''
  if kind == PUSH_MORE then
    how, due, window, group, key, next_at = ledger.take(MORE_TERMS, next_at)
  end
  ledger.payloads = ledger.payloads + 1
  local push = {
    payload = ARGV[1 + ledger.payloads]
    or ledger.refuse('SEINPAALARGUMENT', 'a push has a payload'),
    priority = ledger.number(priority, -100, 100, 'the priority'), due = ledger.due_of(how, due),
    most = ledger.number(most, 1, MOST_DELIVERIES, 'the most deliveries'),
    window = ledger.number(window, 0, MAX_WINDOW, 'the window'), group = group, key = key,
    about = about,
  }
  ledger.check_text(push.payload, MOST_BYTES, 'a payload')
  ledger.check_text(group, 512, 'the name of a group')
  ledger.check_text(key, 512, 'a key')
  ledger.check_text(about, MOST_TEXT, 'what is said about an item')
  return function() return ledger.push(push) end, next_at, 'push'
end

ledger.readers[PUSH], ledger.readers[PUSH_MORE] = ledger.read_push, ledger.read_push
