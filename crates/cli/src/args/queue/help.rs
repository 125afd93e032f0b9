//! The text of `--help` behind the options of `queue` commands.

pub(super) const PUSH_EXAMPLES: &str = "\
Examples:
  seinpaal queue push mails 'to: ann'
  seinpaal queue push reports --priority 10 --group acme - < report.json
  seinpaal queue push mails --delay 1h --dedup ann 'to: ann'
      delivered in an hour, and once, however often it is pushed
  find /photos -name '*.raw' | seinpaal queue push photos --lines
      an item a line, as the lines come

Prints the number of each item. For a duplicate it prints the number
of the item that was pushed before, and says so on stderr. That is no
error. A payload has at most 1 MiB: keep larger data elsewhere, and
push its location.";

pub(super) const WORK_HELP: &str = "\
CMD reads the payload from its stdin. CMD's exit status decides what
becomes of the item:
  0                it is done and removed
  75               it goes back for later, and the delivery does not count
  anything else    it is delivered again, each time later; after its last
                   delivery it is a dead letter (`queue dead`)

Added to CMD's environment:
  SEINPAAL_NAME (the queue)       SEINPAAL_ITEM (the item's number)
  SEINPAAL_FENCE (the delivery's number, greater with each)
  SEINPAAL_ATTEMPT (from 1)       SEINPAAL_DELIVERIES (allowed)
  SEINPAAL_GROUP (may be empty)   SEINPAAL_LABELS (KEY=VALUE, a line each)

An item may be delivered twice if `queue work` or the store dies in
between. Give the fence to what CMD writes to, so that it can refuse a
lower one.

Signals: after the first TERM, INT, HUP or QUIT no more items are taken,
and those in work finish: exit status 0, or 128+n with --until-empty.
The second sends TERM to the commands and gives back the items that they
do not finish; the third sends KILL: exit status 128+n.";

pub(super) const WORK_EXAMPLES: &str = "\
Examples:
  seinpaal queue work mails -- ./send.sh
      one item at a time, for ever
  seinpaal queue work photos -c 8 --until-empty -- sh -c 'read -r file
      convert \"$file\" \"${file%.raw}.jpg\"'
      eight items at a time, until the queue is empty";

pub(super) const DEAD_EXAMPLES: &str = "\
Examples:
  seinpaal queue dead mails
  seinpaal queue dead mails --replay 1733000000000017
  seinpaal queue dead mails --replay all
  seinpaal queue dead mails --matching 'no route' --replay all
      only those that match; list them first, without --replay";

pub(super) const CANCEL_EXAMPLES: &str = "\
Examples:
  seinpaal queue cancel mails 1733000000000017
  seinpaal queue cancel mails all --matching job=42
      all that match: ready, delayed or in work now
  seinpaal queue cancel mails all --state delayed
      all of one state; list them first, with `queue items`";

pub(super) const ITEMS_EXAMPLES: &str = "\
Examples:
  seinpaal queue items mails --state ready
      in the order in which they are delivered; those of groups first
  seinpaal queue items mails --matching job=42
      of every state; `queue cancel` removes the same ones
  seinpaal queue items mails --state delayed --json | head -n 100
      read page by page: the queue may be as long as it likes";
