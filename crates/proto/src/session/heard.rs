//! The facts about a call that the session needs to read its answer.

use crate::{name::Name, time::Micros};

/// The moment at which an answer was heard, the moment at which its request was sent, and its name.
#[derive(Clone, Copy)]
pub(super) struct Heard<'a> {
    pub(super) now: Micros,
    pub(super) sent_at: Micros,
    pub(super) name: &'a Name,
}
