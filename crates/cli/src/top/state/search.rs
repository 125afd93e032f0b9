//! Searches for names, and for items of the open queue.

use seinpaal::Name;

use super::{
    super::{keys::Key, prompt::edit, watch::ListTab},
    KeyRequest, TopState,
};

impl TopState {
    pub(super) fn begin_to_look_for(&mut self) {
        match (&self.look.open, self.look.tab) {
            (None, _) => (self.filter, self.is_filtering) = (Some(String::new()), true),
            (Some(_), ListTab::Queues) => self.searching = Some(String::new()),
            // An open name lists all its holders and waiters, so there is nothing to search.
            (Some(_), ListTab::Names) => {}
        }
    }

    pub(super) fn type_filter(&mut self, key: Key) {
        match key {
            Key::Escape => (self.filter, self.is_filtering) = (None, false),
            Key::Enter => self.is_filtering = false,
            key => edit(self.filter.get_or_insert_default(), key),
        }
    }

    /// Returns whether this name or queue passes the filter, in upper or lower case.
    pub(in super::super) fn lets_through(&self, name: &Name) -> bool {
        let wanted = self.filter.as_deref().unwrap_or_default().to_lowercase();
        wanted.is_empty() || name.to_lowercase().contains(&wanted)
    }

    /// Applies a key to the search text. A filter applies to the rows that were read, but a search
    /// reads all items of the queue. So it begins only when the text is complete.
    pub(super) fn type_search(&mut self, key: Key) -> KeyRequest {
        match key {
            Key::Escape => self.searching = None,
            Key::Enter => {
                let text = self.searching.take().unwrap_or_default();
                return self.look_for(text.trim().to_owned());
            }
            key => edit(self.searching.get_or_insert_default(), key),
        }
        KeyRequest::Nothing
    }

    /// Lists the items that contain this text, or all items if it is empty.
    pub(super) fn look_for(&mut self, text: String) -> KeyRequest {
        if self.look.matching == text {
            return KeyRequest::Nothing;
        }
        self.look.matching = text;
        (self.queue, self.chosen_row) = (None, None);
        KeyRequest::Look
    }
}
