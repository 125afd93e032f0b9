//! A head as columns. The ledger's list of its fields makes the columns of its table and the
//! statements that read and write them.

use std::{iter, sync::LazyLock};

use rusqlite::{
    Connection, Params, Result, Row, ToSql, params_from_iter,
    types::{FromSql, ToSqlOutput, Value},
};
use seinpaal_proto::{
    Field, Head, Inbox, Kind, ReadHead, RecentHolds, SlotNames, queue, time::Micros,
};

use super::{bytes, damaged, int};

/// The name of a field of a head, and its value.
type NamedField<'a> = (&'static str, Field<'a>);

/// The tables and indexes of a new database.
pub(in super::super) const SCHEMA: &str = include_str!("../schema.sql");

/// Returns the tables and indexes for large names and for queues.
pub(in super::super) fn schema_large() -> String {
    include_str!("../schema_large.sql")
        .replace("HEAD_OF_NAME", &definitions(&Head::default().fields()))
        .replace("HEAD_OF_QUEUE", &definitions(&queue::Head::default().fields()))
}

fn definitions(fields: &[NamedField<'_>]) -> String {
    let definition = |(name, field): &NamedField<'_>| {
        let kind = match field {
            Field::Kind(_) | Field::Names(_) | Field::Text(_) => "TEXT",
            Field::Limit(_) => "INTEGER",
            Field::Client(_) => "BLOB",
            _ => "INTEGER NOT NULL",
        };
        format!("{} {kind}", column(name))
    };
    fields.iter().map(definition).collect::<Vec<_>>().join(", ")
}

/// Returns the columns of a head in this table, for tests that damage them; none if the table has
/// no heads.
pub fn head_columns(table: &str) -> Vec<&'static str> {
    let columns = |fields: &[NamedField<'_>]| fields.iter().map(|(name, _)| column(name)).collect();
    match table {
        "name" => columns(&Head::default().fields()),
        "queue" => columns(&queue::Head::default().fields()),
        _ => Vec::new(),
    }
}

/// Returns the column of a field. `limit` is a keyword of SQL.
fn column(field: &'static str) -> &'static str {
    match field {
        "limit" => "cap",
        "group_limit" => "group_cap",
        other => other,
    }
}

/// The statements about the heads in one table.
pub(super) struct Statements {
    pub(super) insert: String,
    pub(super) read: String,
    /// Finds the head by its name. The number of the row is the last column.
    pub(super) find: String,
    update: String,
}

/// The statements about names.
pub(super) static NAME: LazyLock<Statements> =
    LazyLock::new(|| Statements::new("name", &Head::default().fields()));

/// The statements about queues.
pub(super) static QUEUE: LazyLock<Statements> =
    LazyLock::new(|| Statements::new("queue", &queue::Head::default().fields()));

impl Statements {
    /// Makes the statements. Parameter 1 is the name where a row is inserted, and the number of the
    /// row elsewhere.
    fn new(table: &str, fields: &[NamedField<'_>]) -> Self {
        let columns: Vec<_> = fields.iter().map(|(name, _)| column(name)).collect();
        let places: Vec<_> = (0..columns.len()).map(|at| format!("?{}", at + 2)).collect();
        let set = columns.iter().zip(&places).map(|(column, place)| format!("{column} = {place}"));
        let set = set.collect::<Vec<_>>().join(", ");
        let (columns, places) = (columns.join(", "), places.join(", "));
        Self {
            insert: format!("INSERT INTO {table} (name, {columns}) VALUES (?1, {places})"),
            read: format!("SELECT {columns} FROM {table} WHERE id = ?1"),
            find: format!("SELECT {columns}, id FROM {table} WHERE name = ?1"),
            update: format!("UPDATE {table} SET {set} WHERE id = ?1"),
        }
    }

    /// Inserts a row, and returns its number.
    pub(super) fn insert(
        &self,
        db: &Connection,
        name: &str,
        fields: &[NamedField<'_>],
    ) -> Result<i64> {
        db.prepare_cached(&self.insert)?.insert(params(&name, fields))
    }

    pub(super) fn update(
        &self,
        db: &Connection,
        row: i64,
        fields: &[NamedField<'_>],
    ) -> Result<()> {
        db.prepare_cached(&self.update)?.execute(params(&row, fields)).map(drop)
    }
}

fn params<'a>(first: &'a dyn ToSql, fields: &'a [NamedField<'_>]) -> impl Params + 'a {
    let cells = fields.iter().map(|(_, field)| SqlParameter::Of(*field));
    params_from_iter(iter::once(SqlParameter::First(first)).chain(cells))
}

const NULL: ToSqlOutput<'static> = ToSqlOutput::Owned(Value::Null);

/// A parameter of a statement.
enum SqlParameter<'a> {
    First(&'a dyn ToSql),
    Of(Field<'a>),
}

impl ToSql for SqlParameter<'_> {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        let field = match self {
            Self::First(first) => return first.to_sql(),
            Self::Of(field) => *field,
        };
        Ok(match field {
            Field::Kind(kind) => kind.map_or(NULL, |kind| kind.letter().to_string().into()),
            Field::Names(names) if names.is_empty() => NULL,
            Field::Names(names) => names.to_string().into(),
            Field::Text(text) => text.map_or(NULL, |text| ToSqlOutput::Borrowed(text.into())),
            Field::Client(inbox) => inbox.map_or(NULL, |inbox| bytes(inbox.0).to_vec().into()),
            Field::Limit(limit) => limit.map_or(NULL, |limit| i64::from(limit).into()),
            Field::LedgerTime(at) | Field::StoreTime(at) | Field::Alarm(at) => int(at).into(),
            Field::Fence(number) | Field::Span(number) => int(number).into(),
            Field::Permits(count) | Field::Rows(count) => i64::from(count).into(),
            Field::Holds(recent) => int(recent.bits()).into(),
        })
    }
}

/// Reads a head from the row that [`Statements::read`] finds.
pub(super) struct HeadRow<'a, 'row> {
    row: &'a Row<'row>,
    next: usize,
}

impl<'a, 'row> HeadRow<'a, 'row> {
    pub(super) fn new(row: &'a Row<'row>) -> Self {
        Self { row, next: 0 }
    }

    fn get<T: FromSql>(&mut self) -> Result<T> {
        self.next += 1;
        self.row.get(self.next - 1)
    }
}

impl ReadHead for HeadRow<'_, '_> {
    type Error = rusqlite::Error;

    fn kind(&mut self) -> Result<Option<Kind>> {
        let letter: Option<String> = self.get()?;
        Ok(letter.and_then(|letter| letter.parse().ok()).and_then(Kind::of_letter))
    }

    fn limit(&mut self) -> Result<Option<u32>> {
        self.get()
    }

    fn names(&mut self) -> Result<SlotNames> {
        let names: Option<String> = self.get()?;
        names.unwrap_or_default().parse().map_err(|_| damaged())
    }

    fn text(&mut self) -> Result<Option<String>> {
        self.get()
    }

    fn instant(&mut self) -> Result<Micros> {
        u64::try_from(self.get::<i64>()?).map_err(|_| damaged())
    }

    fn span(&mut self) -> Result<Micros> {
        self.instant()
    }

    fn count(&mut self) -> Result<u32> {
        self.get()
    }

    fn client(&mut self) -> Result<Option<Inbox>> {
        Ok(self.get::<Option<[u8; 16]>>()?.map(|id| Inbox(u128::from_be_bytes(id))))
    }

    fn holds(&mut self) -> Result<RecentHolds> {
        self.instant().map(RecentHolds::from_bits)
    }
}
