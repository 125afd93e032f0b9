//! Looks at many clients, a page at a time. The next look at the same place goes on where the last
//! one stopped, so that a look takes a bounded time and each client is looked at in the end.

use std::{cell::RefCell, collections::BTreeMap};

use rusqlite::Result;
use seinpaal_proto::Inbox;

use super::line::LineOf;

/// The most places of which one client remembers where a look stopped.
const MOST_MARKS: usize = 64;

/// Some of the clients at a place, in the order of their ids, which goes round.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct ClientPage {
    after: Option<Inbox>,
    pub(super) clients: Vec<Inbox>,
    /// Whether these are all that there are.
    is_whole: bool,
}

impl ClientPage {
    /// The page of a place where nobody is.
    pub(super) fn of_nobody() -> Self {
        Self { after: None, clients: Vec::new(), is_whole: true }
    }

    /// Up to `most` clients that come after this one. `list` lists up to so many after one, or
    /// from the first on, in the order of their ids.
    fn read(
        after: Option<Inbox>,
        most: usize,
        list: impl Fn(Option<Inbox>, usize) -> Result<Vec<Inbox>>,
    ) -> Result<Self> {
        let mut clients = list(after, most)?;
        if after.is_some() && clients.len() < most {
            let from_first = list(None, most - clients.len())?;
            clients.extend(from_first.into_iter().filter(|inbox| Some(*inbox) <= after));
        }
        let is_whole = clients.len() < most;
        Ok(Self { after, clients, is_whole })
    }

    /// Returns whether this client would be on the page if it were at the place.
    pub(super) fn covers(&self, inbox: Inbox) -> bool {
        let (inbox, after, last) = (Some(inbox), self.after, self.clients.last().copied());
        let goes_round = last <= after;
        self.is_whole
            || if goes_round {
                inbox > after || inbox <= last
            } else {
                inbox > after && inbox <= last
            }
    }
}

/// Where looks have stopped.
#[derive(Debug, Default)]
pub(super) struct PageMarks(RefCell<BTreeMap<LineOf, Inbox>>);

impl PageMarks {
    /// The next page of a place. The first page of a client begins after its own id, so that many
    /// clients that look once do not all look at the same ones.
    pub(super) fn turn_page(
        &self,
        line_of: &LineOf,
        me: Inbox,
        most: usize,
        list: impl Fn(Option<Inbox>, usize) -> Result<Vec<Inbox>>,
    ) -> Result<ClientPage> {
        let mut marks = self.0.borrow_mut();
        let page = ClientPage::read(Some(*marks.get(line_of).unwrap_or(&me)), most, list)?;
        let mark = page.clients.last().filter(|_| !page.is_whole);
        if mark.is_none() || marks.len() >= MOST_MARKS {
            marks.remove(line_of);
        }
        if let Some(last) = mark
            && marks.len() < MOST_MARKS
        {
            marks.insert(line_of.clone(), *last);
        }
        Ok(page)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use seinpaal_proto::Name;

    use super::*;

    fn list(ids: &[u128]) -> impl Fn(Option<Inbox>, usize) -> Result<Vec<Inbox>> {
        move |after, most| {
            let later = ids.iter().map(|id| Inbox(*id)).filter(|inbox| Some(*inbox) > after);
            Ok(later.take(most).collect())
        }
    }

    fn line_of() -> LineOf {
        LineOf::Permits(Name::new("n").unwrap())
    }

    #[test]
    fn looks_that_follow_each_other_come_to_every_client() {
        let ids: Vec<u128> = (0..10).map(|n| 10 * n).collect();
        for me in 0..101 {
            let (marks, mut seen) = (PageMarks::default(), BTreeSet::new());
            for _ in 0..4 {
                let page = marks.turn_page(&line_of(), Inbox(me), 3, list(&ids)).unwrap();
                assert_eq!(page.clients.len(), 3);
                seen.extend(page.clients);
            }
            assert_eq!(seen.len(), ids.len(), "from {me} on");
        }
    }

    #[test]
    fn a_page_that_has_all_covers_everybody_and_the_next_one_has_all_again() {
        let marks = PageMarks::default();
        for _ in 0..3 {
            let page = marks.turn_page(&line_of(), Inbox(15), 4, list(&[10, 20, 30])).unwrap();
            assert_eq!(page.clients, [20, 30, 10].map(Inbox));
            assert!((0..40).all(|id| page.covers(Inbox(id))));
        }
    }

    #[test]
    fn a_page_covers_those_between_its_ends_also_where_it_goes_round() {
        let ids = [10, 20, 30, 40];
        let covered = |after: u128| -> Vec<u128> {
            let page = ClientPage::read(Some(Inbox(after)), 2, list(&ids)).unwrap();
            (0..50).step_by(5).filter(|id| page.covers(Inbox(*id))).collect()
        };
        assert_eq!(covered(15), [20, 25, 30]);
        assert_eq!(covered(30), [0, 5, 10, 35, 40, 45]);
    }
}
