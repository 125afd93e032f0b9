//! Finds the page that the fields of a request mean.

use seinpaal::Name;

use crate::{
    fields::{FieldMap, field},
    view::{ItemQuery, ListQuery, PageSubject},
};

/// Returns the name in the fields, or the reason why it is not valid.
pub(crate) fn named(fields: &FieldMap) -> Result<String, String> {
    Name::new(field(fields, "n"))
        .map(|name| name.to_string())
        .map_err(|error| format!("This is not a name: {error}."))
}

/// Returns the subject of a stream, from its fields.
pub(crate) fn subject(fields: &FieldMap) -> Option<PageSubject> {
    match fields.get("of")?.as_str() {
        "names" => Some(PageSubject::Names(ListQuery::from_fields(fields))),
        "queues" => Some(PageSubject::Queues(ListQuery::from_fields(fields))),
        "name" => named(fields).ok().map(PageSubject::Name),
        "queue" => {
            let items = ItemQuery::from_fields(fields);
            named(fields).ok().map(|name| PageSubject::Queue(name, items))
        }
        _ => None,
    }
}
