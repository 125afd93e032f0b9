-- One row a name; what is not a list about it. 'cap' is the limit, which is a word of SQL.
CREATE TABLE name (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
    kind TEXT, cap INTEGER, pinned INTEGER NOT NULL, paused TEXT,
    clock INTEGER NOT NULL, wall INTEGER NOT NULL, bound INTEGER NOT NULL, fence INTEGER NOT NULL,
    held INTEGER NOT NULL, holders INTEGER NOT NULL, waiting INTEGER NOT NULL, past INTEGER NOT NULL,
    arrival INTEGER NOT NULL, top INTEGER NOT NULL
);

-- Names that nobody uses, of which only ended tickets or the last fence are remembered.
CREATE INDEX used_up ON name (wall)
    WHERE holders = 0 AND waiting = 0 AND (past > 0 OR NOT pinned AND paused IS NULL);

-- Ids are 16 bytes, big-endian, so that their order is that of the numbers.
CREATE TABLE lease (
    name INTEGER NOT NULL, id BLOB NOT NULL, inbox BLOB, ttl INTEGER NOT NULL,
    ends INTEGER NOT NULL, ends_wall INTEGER NOT NULL,
    members INTEGER NOT NULL, digest INTEGER NOT NULL, parked INTEGER NOT NULL,
    PRIMARY KEY (name, id)
) WITHOUT ROWID;
CREATE INDEX lease_by_end ON lease (name, ends, id);
CREATE INDEX lease_by_wall ON lease (name, ends_wall, id);
CREATE INDEX lease_by_inbox ON lease (inbox, name) WHERE inbox IS NOT NULL;

-- A ticket that holds has a fence and slots, one that waits has a rank and what follows it.
CREATE TABLE entry (
    name INTEGER NOT NULL, ticket BLOB NOT NULL, lease BLOB NOT NULL, inbox BLOB,
    permits INTEGER NOT NULL, ttl INTEGER NOT NULL, since INTEGER NOT NULL, about TEXT NOT NULL,
    fence INTEGER, slots TEXT,
    rank INTEGER, priority INTEGER, next_lease BLOB, margin INTEGER, parked INTEGER,
    PRIMARY KEY (name, ticket)
) WITHOUT ROWID;
CREATE INDEX entry_by_lease ON entry (name, lease, ticket);
CREATE INDEX holder_by_fence ON entry (name, fence, ticket) WHERE fence IS NOT NULL;
CREATE INDEX holder_by_inbox ON entry (name, inbox) WHERE fence IS NOT NULL AND inbox IS NOT NULL;
CREATE INDEX waiter_by_rank ON entry (name, parked, rank, ticket) WHERE rank IS NOT NULL;

CREATE TABLE past (
    name INTEGER NOT NULL, ticket BLOB NOT NULL, cause INTEGER NOT NULL, until INTEGER NOT NULL,
    PRIMARY KEY (name, ticket)
) WITHOUT ROWID;
CREATE INDEX past_by_end ON past (name, until, ticket);

CREATE TABLE free (
    name INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, PRIMARY KEY (name, first)
) WITHOUT ROWID;

-- One row: the boot in which leases are valid, what to add to the time since that boot to have the
-- store's clock, and when the dead were last cleared away (on that clock).
CREATE TABLE boot (id TEXT NOT NULL, clock_offset INTEGER NOT NULL, swept INTEGER NOT NULL);
