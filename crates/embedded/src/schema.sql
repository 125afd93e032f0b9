-- The tables that every store has. SQLite reads the text of all tables each time that a program
-- opens the database, so the tables for large names and for queues are made when they are first
-- needed (tables.rs).

-- A small name is one row. At 'look_at' a client looks whether the name can be forgotten. 'state'
-- is the packed state of the ledger (small.rs).
CREATE TABLE small (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, look_at INTEGER, state BLOB NOT NULL
);
CREATE INDEX small_to_look_at ON small (look_at) WHERE look_at IS NOT NULL;
-- The clients that may have a lease or a place at a small name.
CREATE TABLE small_of (
    inbox BLOB NOT NULL, name INTEGER NOT NULL, PRIMARY KEY (inbox, name)
) WITHOUT ROWID;

-- One row: the boot in which leases are valid, the difference between the store's clock and the
-- time since that boot, and the time (on that clock) at which the dead were last cleared away.
CREATE TABLE boot (id TEXT NOT NULL, clock_offset INTEGER NOT NULL, swept INTEGER NOT NULL);
