-- A large name has a row in 'name', and rows in 'lease', 'entry', 'memory' and 'free'.

-- One row a large name, with its head: rows/head.rs makes these columns from the list of the head's
-- fields.
CREATE TABLE name (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
    HEAD_OF_NAME
);

-- Names that nobody uses, of which only series of tickets or the last fence are remembered.
CREATE INDEX used_up ON name (wall)
    WHERE holders = 0 AND waiting = 0 AND (past > 0 OR pinned IS NULL AND paused IS NULL);

-- Ids are 16 bytes, big-endian, so that their order is the order of the numbers.
CREATE TABLE lease (
    name INTEGER NOT NULL, id BLOB NOT NULL, inbox BLOB, ttl INTEGER NOT NULL,
    ends INTEGER NOT NULL, ends_wall INTEGER NOT NULL,
    members INTEGER NOT NULL, digest INTEGER NOT NULL, parked INTEGER NOT NULL,
    PRIMARY KEY (name, id)
) WITHOUT ROWID;
CREATE INDEX lease_by_end ON lease (name, ends, id);
CREATE INDEX lease_by_wall ON lease (name, ends_wall, id);
CREATE INDEX lease_by_inbox ON lease (inbox, name) WHERE inbox IS NOT NULL;

-- A ticket that holds has a fence and slots. A ticket that waits has a rank and the columns behind
-- it. Its slots, if there are any, are those that it wishes for.
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

-- The memory of a series of tickets. 'ends' has five bytes for each end: the number, big-endian,
-- and the cause.
CREATE TABLE memory (
    name INTEGER NOT NULL, series BLOB NOT NULL, last INTEGER NOT NULL, until INTEGER NOT NULL,
    open INTEGER NOT NULL, ends BLOB NOT NULL,
    PRIMARY KEY (name, series)
) WITHOUT ROWID;
CREATE INDEX memory_by_end ON memory (name, until, series) WHERE open = 0;

CREATE TABLE free (
    name INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, PRIMARY KEY (name, first)
) WITHOUT ROWID;

-- One row a queue, with its head.
CREATE TABLE queue (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
    HEAD_OF_QUEUE
);
CREATE INDEX queue_in_work ON queue (id) WHERE in_work > 0;
-- Queues that nobody uses, of which only sessions are remembered, or only keys.
CREATE INDEX queue_of_sessions ON queue (wall)
    WHERE ready = 0 AND delayed = 0 AND in_work = 0 AND dead = 0 AND idle = 0 AND called = 0
        AND sessions > 0;
CREATE INDEX queue_of_keys ON queue (wall)
    WHERE ready = 0 AND delayed = 0 AND in_work = 0 AND dead = 0 AND idle = 0 AND called = 0
        AND sessions = 0 AND keys > 0;

-- A ready item has 'open', a delayed item its due time, a dead item the time of its death, and an
-- item in work has a fence and the columns behind it. Exactly one of the four is not null.
CREATE TABLE item (
    queue INTEGER NOT NULL, id INTEGER NOT NULL, priority INTEGER NOT NULL, of_group TEXT,
    most INTEGER NOT NULL, bytes INTEGER NOT NULL, dedup TEXT, about TEXT NOT NULL,
    pushed INTEGER NOT NULL, rank INTEGER NOT NULL, attempt INTEGER NOT NULL, history TEXT NOT NULL,
    open INTEGER, due INTEGER, died INTEGER,
    fence INTEGER, worker BLOB, worker_about TEXT, since INTEGER, ttl INTEGER,
    ends INTEGER, ends_wall INTEGER,
    PRIMARY KEY (queue, id)
) WITHOUT ROWID;
CREATE INDEX item_open ON item (queue, rank, id) WHERE open = 1;
CREATE INDEX item_of_group ON item (queue, of_group, rank, id)
    WHERE open IS NOT NULL AND of_group IS NOT NULL;
CREATE INDEX item_delayed ON item (queue, due, id) WHERE due IS NOT NULL;
CREATE INDEX item_by_end ON item (queue, ends, id) WHERE ends IS NOT NULL;
CREATE INDEX item_by_wall ON item (queue, ends_wall, id) WHERE ends_wall IS NOT NULL;
CREATE INDEX item_by_worker ON item (queue, worker, id) WHERE worker IS NOT NULL;
CREATE INDEX item_dead ON item (queue, id) WHERE died IS NOT NULL;

-- Payloads have a table of their own, so that changing an item does not write its payload again.
CREATE TABLE payload (
    queue INTEGER NOT NULL, id INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (queue, id)
) WITHOUT ROWID;

CREATE TABLE item_group (
    queue INTEGER NOT NULL, name TEXT NOT NULL, in_work INTEGER NOT NULL, ready INTEGER NOT NULL,
    front INTEGER,
    PRIMARY KEY (queue, name)
) WITHOUT ROWID;
CREATE INDEX full_group ON item_group (queue, name) WHERE ready > 0 AND front IS NULL;

CREATE TABLE place (
    queue INTEGER NOT NULL, inbox BLOB NOT NULL, want INTEGER NOT NULL, drains INTEGER NOT NULL,
    until INTEGER NOT NULL, called INTEGER, PRIMARY KEY (queue, inbox)
) WITHOUT ROWID;
CREATE INDEX place_in_line ON place (queue, drains DESC, until, inbox) WHERE called IS NULL;
CREATE INDEX place_called ON place (queue, called, inbox) WHERE called IS NOT NULL;
CREATE INDEX place_by_inbox ON place (inbox);

-- The answers to a session's last batch, a line each.
CREATE TABLE session (
    queue INTEGER NOT NULL, inbox BLOB NOT NULL, number INTEGER NOT NULL, until INTEGER NOT NULL,
    replies TEXT NOT NULL, PRIMARY KEY (queue, inbox)
) WITHOUT ROWID;
CREATE INDEX session_by_end ON session (queue, until, inbox);

CREATE TABLE dedup (
    queue INTEGER NOT NULL, key TEXT NOT NULL, id INTEGER NOT NULL, until INTEGER NOT NULL,
    PRIMARY KEY (queue, key)
) WITHOUT ROWID;
CREATE INDEX dedup_by_end ON dedup (queue, until, key);
