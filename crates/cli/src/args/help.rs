//! The text of `--help` after the options.

// Lines of at most 70 characters: manual pages indent them by seven.
pub(super) const ENVIRONMENT: &str = "\
Environment:
  SEINPAAL_STORE   the store, unless --store or --store-file names one
  XDG_CONFIG_HOME  where seinpaal/config.toml is: store = \"URL\"
                   (default ~/.config; after it /etc/seinpaal.toml)
  NO_COLOR         if set to anything: no bold print
  COLUMNS          the width of tables if stdout is not a terminal
RUST_LOG has no effect: -vv prints what the library logs.";

pub(super) const STORES: &str = "\
Stores:
  file:  file:///DIR      this machine, without a server (default)
  redis://[USER:PASSWORD@]HOST[:PORT][/DB]   Redis or Valkey
  rediss://  valkey://  valkeys://  unix:///SOCKET
  redis+sentinel://[USER:PASSWORD@]HOST[:PORT],HOST[:PORT]/MASTER[/DB]
  rediss+sentinel://      the master that these sentinels watch over
                          (?sentinel-user=USER  sentinel-pass=PASSWORD)
  redis+cluster://[USER:PASSWORD@]HOST[:PORT],HOST[:PORT]
  rediss+cluster://       a cluster, found by any of its nodes
  redis+quorum://[USER:PASSWORD@]HOST[:PORT],HOST[:PORT],HOST[:PORT]
  rediss+quorum://        3, 5, 7 or 9 servers that know nothing of
                          each other; waiters have no order
  zookeeper://[USER:PASSWORD@]HOST[:PORT],HOST[:PORT][/CHROOT]
                          an ensemble (?session=DUR  connect-timeout=DUR);
                          packages have it, your own build with
                          `--features zookeeper`
  memory:                 one process, for trials

Options of a Redis store:
  ?replicated=N  restart-guard=on|off|DUR  clock-bound=DUR|off
  prefix=TEXT  connect-timeout=DUR
  ca=PATH  cert=PATH&key=PATH  (PEM files, with TLS)

A password is best kept in a file that only you can read: the
configuration file, or the one that --store-file names. SEINPAAL_STORE
keeps it out of `ps`, too, but CMD inherits it, unless --hide-store is
given.

Durations: 500ms 2s 1.5m 2h 1d; a bare number is seconds.";

pub(super) const RUN_ENVIRONMENT: &str = "\
Added to CMD's environment:
  SEINPAAL_NAME   SEINPAAL_FENCE   SEINPAAL_SLOT (the lowest held)
  SEINPAAL_SLOTS (all, comma-separated)           SEINPAAL_PERMITS
  SEINPAAL_LIMIT  SEINPAAL_TICKET
  SEINPAAL_SLOT_NAME, SEINPAAL_SLOT_NAMES  where slots have names
  SEINPAAL_HELD   what is held around CMD, as JSON, so that a `run` of
                  NAME inside CMD can share this permit
Added with --also and --within, one for each, in their order,
comma-separated:
  SEINPAAL_ALSO_FENCES   SEINPAAL_ALSO_SLOTS (the lowest held)";

pub(super) const RUN_EXAMPLES: &str = "\
Examples:
  seinpaal run deploy ./deploy.sh
      one at a time; the others wait in line
  seinpaal run gpus -j 4 -p 2 -- train --fast
      two of four permits
  seinpaal run nightly -n -E 0 ./nightly.sh
      skip without a message if it runs already
  seinpaal run pages --shared ./render.sh
  seinpaal run pages --exclusive ./publish.sh
      many readers or one writer
  seinpaal run gpus -j 4 --also licence -- train
      a permit of each name, or none
  seinpaal run user/ann --within all -- ./job.sh
      first a permit of ann's own, then one of those that all share
  seinpaal run reports --once-per 1h ./reports.sh
      started on many machines every hour, run by one of them
  seinpaal run reports -n -E 0 --min-hold 1m ./reports.sh
      the same, and a job that fails is not tried on another machine
  seinpaal run gpus -j 4 sh -c 'train --gpu=$SEINPAAL_SLOT'
      the slot, 0 to 3, chooses the device
  seinpaal run boards --slot board-b ./measure.sh
      waits for the board of this name: see `seinpaal limit --help`
  seinpaal run db sh -c 'seinpaal run db ./migrate.sh'
      a script that calls another with the same lock: the inner run
      goes in under the permit that is held (--no-reenter waits)
  seinpaal run builds -j 4 --on-unreachable run -- make
      the job matters more than the limit: it runs without the server
  seinpaal run nightly --on-conflict skip ./nightly.sh
      like -n -E 0
  seinpaal run deploy --on-conflict replace-waiting ./deploy.sh
      of those that wait only the newest matters
  seinpaal run preview --on-conflict cancel-running ./build.sh
      only the newest matters: it also stops the one that runs";

pub(super) const ACQUIRE_EXAMPLES: &str = "\
Examples:
  ticket=$(seinpaal acquire deploy --ttl 10m) || exit
  trap 'seinpaal release deploy \"$ticket\"' EXIT
  seinpaal acquire deploy --while-pid $$ >ticket || exit
      renewed until this script ends, even by kill -9

For several commands of a script. For one command, `run` is simpler.";

pub(super) const LIMIT_EXAMPLES: &str = "\
Examples:
  seinpaal limit builds 4
      four at a time, whatever else they say with -j
  seinpaal limit builds 0
      nobody new gets in
  seinpaal limit boards --slots GPU-0,GPU-1,board-b
      three slots with names, for `run --slot` and SEINPAAL_SLOT_NAME";

pub(super) const TOP_KEYS: &str = "\
Keys:
  up down (k j), page up, page down, home end (g G)   move
  enter, right (l)   open a name: who holds, who waits, and why the
                     waiter at the cursor waits
  left, escape (h)   back to all names
  tab                queues, and back to names
  /                  show only names that contain a text
  a                  actions on what the cursor is on: limit, pause,
                     evict and so on; each asks for confirmation
  s                  sort by the next column
  ?                  all keys
  q                  leave";

pub(super) const DOCTOR_STATUS: &str = "\
Exit status of doctor:
  0   all well
  1   a promise is at risk: each line that begins with RISK says
      which, and the remedy
  69  the store cannot be reached
  77, 78  the store cannot be used: this user may not do what is
      needed; or it is too old, a replica, or not what the URL says";
