-- The tables that every store has. SQLite reads the text of all tables each time that somebody
-- opens the database, so those for large names and for queues are made when they are first needed
-- (tables.rs).

-- A small name is one row. 'look_at' is when somebody looks whether it can be forgotten, 'state' is
-- what the ledger keeps (small.rs).
CREATE TABLE small (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, look_at INTEGER, state BLOB NOT NULL
);
CREATE INDEX small_to_look_at ON small (look_at) WHERE look_at IS NOT NULL;
-- Which clients may have something at which small names.
CREATE TABLE small_of (
    inbox BLOB NOT NULL, name INTEGER NOT NULL, PRIMARY KEY (inbox, name)
) WITHOUT ROWID;

-- One row: the boot in which leases are valid, what to add to the time since that boot to have the
-- store's clock, and when the dead were last cleared away (on that clock).
CREATE TABLE boot (id TEXT NOT NULL, clock_offset INTEGER NOT NULL, swept INTEGER NOT NULL);
