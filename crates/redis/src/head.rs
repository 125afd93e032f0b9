//! How a head is packed on the server, and how the scripts come to know its fields.
//!
//! The list of the fields is the ledger's. A [`HeadLayout`] says in which order the scripts pack
//! them, and which fields of their own they keep among them. A script names the fields that it
//! uses. Where it means all of them, its source has one of these words, and [`HeadLayout::expand`]
//! writes the fields in its place before the script is loaded.
//!
//! | word | what takes its place |
//! |---|---|
//! | `FORM_OF_HEAD` | the format for `struct.pack` and `struct.unpack`, without quotes |
//! | `SIZE_OF_HEAD` | how many bytes that takes |
//! | `FIELDS_OF_HEAD` | the names, in the order of the format, as locals |
//! | `BLANKS_OF_HEAD` | the values of a head that nobody has touched, in that order |
//! | `HEAD_WITH{ a = x, b = y }` | these values, but `x` for the field `a` and `y` for `b` |
//! | `TABLE_OF_HEAD` | the fields of a table, made from the locals |
//! | `UNTOUCHED_HEAD` | the fields of a table for a head that nobody has touched |
//! | `HEAD_AS_PACKED` | the values of a table `h`, in the order of the format |
//!
//! `NOTE_HOLD{ recent, took }` stands for the arithmetic of [`RecentHolds::with`]. It takes no
//! function, which would cost much to make in each call: `recent` is the variable that has the
//! number, and `took` is the length of the hold.

use std::sync::LazyLock;

use seinpaal_proto::{Field, RecentHolds, queue, time::UNBOUNDED};

/// One place of a layout.
enum LayoutPlace {
    /// A field of the ledger's head.
    Ledgers(&'static str),
    /// A field that the scripts keep for themselves: its name, its format, and its value at first.
    Scripts(&'static str, &'static str, &'static str),
}

use LayoutPlace::{Ledgers, Scripts};

/// The head of a queue. The number of the format stands before it, and a number that says whether
/// more follows.
#[rustfmt::skip]
const PLACES_OF_QUEUES: [LayoutPlace; 20] = [
    Ledgers("limit"), Ledgers("group_limit"), Ledgers("clock"), Ledgers("wall"), Ledgers("bound"), Ledgers("last"),
    Ledgers("ready"), Ledgers("open"), Ledgers("delayed"), Ledgers("in_work"), Ledgers("dead"), Ledgers("sessions"),
    Ledgers("keys"), Scripts("first_end", "d", "UNBOUNDED"), Scripts("first_wall", "d", "UNBOUNDED"),
    Scripts("first_due", "d", "UNBOUNDED"), Scripts("first_session", "d", "UNBOUNDED"),
    Scripts("first_key", "d", "UNBOUNDED"), Scripts("memory", "d", "0"), Scripts("deadline", "d", "0"),
];

/// How the script of queues packs a head.
pub(super) static QUEUES: LazyLock<HeadLayout> = LazyLock::new(|| {
    let numbers = Numbers { limit: "d", count: "d" };
    HeadLayout::new(&PLACES_OF_QUEUES, &queue::Head::default().fields(), numbers)
});

/// The formats of a layout's numbers. A head of a queue has doubles alone.
#[derive(Clone, Copy)]
struct Numbers {
    limit: &'static str,
    count: &'static str,
}

/// The places of a head in their order, and the words that stand for them in scripts.
pub(super) struct HeadLayout {
    slots: Vec<HeadField>,
    words: [(&'static str, String); 7],
}

/// One field, as scripts write it.
#[derive(Clone, Copy)]
struct HeadField {
    name: &'static str,
    form: &'static str,
    blank: &'static str,
    in_tables: InTables,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum InTables {
    Always,
    /// Only if it is not below 0.
    IfThere,
}

impl HeadLayout {
    fn new(places: &[LayoutPlace], fields: &[(&'static str, Field<'_>)], numbers: Numbers) -> Self {
        let slots: Vec<_> =
            places.iter().filter_map(|place| slot(place, fields, numbers)).collect();
        let bytes: usize = slots.iter().map(|slot| byte_count(slot.form)).sum();
        let each = |write: fn(&HeadField) -> Option<String>, between| {
            slots.iter().filter_map(write).collect::<Vec<_>>().join(between)
        };
        let words = [
            ("FORM_OF_HEAD", each(|slot| Some(slot.form.to_owned()), "")),
            ("SIZE_OF_HEAD", bytes.to_string()),
            ("FIELDS_OF_HEAD", each(|slot| Some(slot.name.to_owned()), ", ")),
            ("BLANKS_OF_HEAD", each(|slot| Some(slot.blank.to_owned()), ", ")),
            ("TABLE_OF_HEAD", each(HeadField::read, ", ")),
            ("UNTOUCHED_HEAD", each(HeadField::untouched, ", ")),
            ("HEAD_AS_PACKED", each(|slot| Some(slot.packed()), ", ")),
        ];
        Self { slots, words }
    }

    /// A script with the fields in the places of the words.
    pub(super) fn expand(&self, source: &str) -> String {
        let source = self.expand_given(&noting_holds(source));
        self.words.iter().fold(source, |source, (word, fields)| source.replace(word, fields))
    }

    fn expand_given(&self, source: &str) -> String {
        let mut parts = source.split("HEAD_WITH{");
        let mut expanded = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (given, rest) = part.split_once('}').unwrap_or((part, ""));
            expanded += &self.values(given);
            expanded += rest;
        }
        expanded
    }

    /// The values in the order of the format. A field that is not given has its first value.
    fn values(&self, given: &str) -> String {
        let given = values_by_name(given);
        let value = |slot: &HeadField| {
            let value = given.iter().find(|(name, _)| *name == slot.name);
            value.map_or(slot.blank, |(_, value)| value)
        };
        self.slots.iter().map(value).collect::<Vec<_>>().join(", ")
    }
}

/// A script with the arithmetic in the place of `NOTE_HOLD`.
fn noting_holds(source: &str) -> String {
    let mut parts = source.split("NOTE_HOLD{");
    let mut expanded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (given, rest) = part.split_once('}').unwrap_or((part, ""));
        let (recent, took) = given.split_once(',').unwrap_or((given, ""));
        expanded += &noting_a_hold(recent.trim(), took.trim());
        expanded += rest;
    }
    expanded
}

/// Writes the arithmetic. Lua's `frexp` takes a number apart into a power of two and a part from a
/// half to one. A hold no longer than the shortest length has the first code, even one of no length
/// or less. The scripts have doubles alone, so remainders stand where integers would be shifted and
/// cut: one drops the oldest code, and one rounds the new code down.
fn noting_a_hold(recent: &str, took: &str) -> String {
    let (shortest, steps) = (RecentHolds::SHORTEST_BITS, RecentHolds::CODES_A_DOUBLING);
    let (codes, last) = (1_u64 << RecentHolds::CODE_BITS, RecentHolds::LAST_CODE);
    let newer = 1_u64 << (RecentHolds::CODE_BITS * (RecentHolds::MOST - 1));
    let twice = 2 * steps;
    // The part of the shortest is a half, and its code is 1.
    let first = u64::from(shortest + 1) * steps + steps - 1;
    format!(
        "do local took, code = {took}, 1 \
         if took >= {least} then \
         local part, power = math.frexp(took) \
         code = {steps} * power + {twice} * part - {first} \
         if code > {last} then code = {last} end \
         end \
         {recent} = {recent} % {newer} * {codes} + code - code % 1 end",
        least = 1_u64 << shortest,
    )
}

fn slot(
    place: &LayoutPlace,
    fields: &[(&'static str, Field<'_>)],
    numbers: Numbers,
) -> Option<HeadField> {
    match *place {
        Scripts(name, form, blank) => {
            Some(HeadField { name, form, blank, in_tables: InTables::Always })
        }
        Ledgers(name) => {
            let (_, field) = fields.iter().find(|(field, _)| *field == name)?;
            packed(name, field, numbers)
        }
    }
}

/// The field as scripts pack it. Texts, names and clients do not stand among the numbers, and give
/// `None`.
fn packed(name: &'static str, field: &Field<'_>, numbers: Numbers) -> Option<HeadField> {
    let (form, blank, in_tables) = match *field {
        Field::Kind(_) => ("c1", "'-'", InTables::Always),
        Field::Limit(_) => (numbers.limit, "-1", InTables::IfThere),
        Field::Span(UNBOUNDED) => ("d", "UNBOUNDED", InTables::Always),
        Field::LedgerTime(_) | Field::StoreTime(_) | Field::Alarm(_) => {
            ("d", "0", InTables::Always)
        }
        Field::Fence(_) | Field::Span(_) => ("d", "0", InTables::Always),
        Field::Holds(_) => ("d", "0", InTables::Always),
        Field::Permits(_) | Field::Rows(_) => (numbers.count, "0", InTables::Always),
        Field::Names(_) | Field::Text(_) | Field::Client(_) => return None,
    };
    Some(HeadField { name, form, blank, in_tables })
}

impl HeadField {
    fn read(&self) -> Option<String> {
        let name = self.name;
        match self.in_tables {
            InTables::Always => Some(format!("{name} = {name}")),
            InTables::IfThere => Some(format!("{name} = {name} >= 0 and {name} or nil")),
        }
    }

    fn untouched(&self) -> Option<String> {
        let is_there = self.in_tables == InTables::Always;
        is_there.then(|| format!("{} = {}", self.name, self.blank))
    }

    fn packed(&self) -> String {
        match self.in_tables {
            InTables::Always => format!("h.{}", self.name),
            InTables::IfThere => format!("h.{} or {}", self.name, self.blank),
        }
    }
}

fn byte_count(form: &str) -> usize {
    match form {
        "d" => 8,
        "i4" | "I4" => 4,
        _ => 1,
    }
}

/// Takes `a = x, b = f(y, z)` apart at the commas that are in no parentheses.
fn values_by_name(given: &str) -> Vec<(&str, &str)> {
    let mut depth = 0;
    let outside = |letter: char| {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        letter == ',' && depth == 0
    };
    let parts = given.split(outside);
    parts.filter_map(|part| part.split_once('=')).map(|(name, x)| (name.trim(), x.trim())).collect()
}
