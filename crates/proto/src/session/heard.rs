//! The facts about a call that the session needs to read its answer.

use crate::{name::Name, time::Micros};

/// When an answer was heard, when its request was sent, and about which name.
#[derive(Clone, Copy)]
pub(super) struct Heard<'a> {
    pub(super) now: Micros,
    pub(super) sent_at: Micros,
    pub(super) name: &'a Name,
}
