//! The query of a queue's page: a text to look for, and a part of a list.

use seinpaal::{ItemCursor, ItemState};
use seinpaal_words::matching::MOST;

use super::encoded;
use crate::fields::{FieldMap, field};

/// The query that selects the items on the page of a queue.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(crate) struct ItemQuery {
    /// The search text. If it is empty, all items are shown.
    pub(crate) text: String,
    /// The state whose items alone the page lists.
    pub(crate) only: Option<ItemState>,
    /// The place in that list after which the page begins.
    pub(crate) after: Option<ItemCursor>,
}

impl ItemQuery {
    /// Reads the fields of a link or form. An unknown value means the default.
    pub(crate) fn from_fields(fields: &FieldMap) -> Self {
        let field = |name: &str| field(fields, name);
        let typed = field("match").trim().chars().filter(|c| !c.is_control());
        let only = field("state").parse().ok();
        let after = field("after").parse().ok();
        // A place in the list of another state is ignored.
        let after = after.filter(|after: &ItemCursor| Some(after.state()) == only);
        Self { text: typed.take(MOST).collect(), only, after }
    }

    /// Returns whether all items have to be looked at.
    pub(crate) fn searches(&self) -> bool {
        !self.text.is_empty()
    }

    /// Returns the fields of a link to this page, each beginning with `&`.
    pub(crate) fn link(&self) -> String {
        let field = |name: &str, value: Option<String>| {
            value.map_or_else(String::new, |value| format!("&{name}={}", encoded(&value)))
        };
        let text = Some(self.text.clone()).filter(|text| !text.is_empty());
        let (state, after) = (self.only.as_ref(), self.after.as_ref());
        field("match", text)
            + &field("state", state.map(ToString::to_string))
            + &field("after", after.map(ToString::to_string))
    }

    /// Returns the fields of a link to the list of this state, from this place on.
    pub(super) fn behind(&self, state: ItemState, after: Option<&ItemCursor>) -> String {
        Self { text: self.text.clone(), only: Some(state), after: after.cloned() }.link()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(pairs: &[(&str, &str)]) -> ItemQuery {
        let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        ItemQuery::from_fields(&pairs.iter().map(own).collect())
    }

    #[test]
    fn a_query_survives_its_own_link() {
        let made = query(&[("match", " a&b "), ("state", "ready"), ("after", "g:-5:7:a:b")]);
        assert_eq!(made.link(), "&match=a%26b&state=ready&after=g%3A%2D5%3A7%3Aa%3Ab");
        assert_eq!(query(&[]).link(), "");
    }

    #[test]
    fn a_place_of_another_list_and_nonsense_are_left_out() {
        for fields in [
            [("state", "dead"), ("after", "o:1:2:")],
            [("state", "<script>"), ("after", "x:0:2:")],
            [("state", ""), ("after", "o:1:2:")],
            [("state", "ready"), ("after", "o:99999999999999999999:2:")],
        ] {
            assert_eq!(query(&fields).after, None, "{fields:?}");
        }
    }
}
