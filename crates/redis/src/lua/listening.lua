-- listening: tells whether a client can be reached, for names and queues alike.
-- keys   records order
-- args   none
-- reply  nothing
-- cost   one PUBSUB for each inbox that is asked about

ledger.channels = match(records, BEFORE_INBOX) .. INBOX

function ledger.channel_of(inbox)
  return ledger.channels .. inbox
end

-- Tells whether a client listens at an inbox. The client that asks is there, even if its inbox is
-- not.
function ledger.is_listening(inbox)
  if inbox == asker or not LISTENERS then return true end
  if ledger.listeners[inbox] == nil then
    ledger.listeners[inbox] = call('pubsub', LISTENERS, ledger.channel_of(inbox))[2] > 0
      or ledger.is_settling()
  end
  return ledger.listeners[inbox]
end
