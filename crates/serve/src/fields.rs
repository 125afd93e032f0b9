//! The fields of a link or form.

use std::collections::BTreeMap;

pub(crate) type FieldMap = BTreeMap<String, String>;

/// Returns the value of a field. It is empty if the field is missing.
pub(crate) fn field<'f>(fields: &'f FieldMap, name: &str) -> &'f str {
    fields.get(name).map_or("", String::as_str)
}
