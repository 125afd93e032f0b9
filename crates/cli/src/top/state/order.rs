//! The order of the lists.

use std::cmp::Reverse;

use seinpaal::{QueueSnapshot, Snapshot};

use crate::args::SortBy;

/// The column that queues are sorted by.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(in super::super) enum QueueOrder {
    #[default]
    Name,
    Ready,
    Delayed,
    InWork,
    Dead,
    Oldest,
}

impl QueueOrder {
    /// Returns the next column. The first column follows the last one.
    pub(super) fn next(self) -> Self {
        match self {
            Self::Name => Self::Ready,
            Self::Ready => Self::Delayed,
            Self::Delayed => Self::InWork,
            Self::InWork => Self::Dead,
            Self::Dead => Self::Oldest,
            Self::Oldest => Self::Name,
        }
    }

    pub(in super::super) fn word(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Ready => "ready",
            Self::Delayed => "delayed",
            Self::InWork => "in work",
            Self::Dead => "dead",
            Self::Oldest => "oldest",
        }
    }

    /// Sorts queues: the highest figure first, and equal ones by name.
    pub(super) fn arrange(self, queues: &mut [QueueSnapshot]) {
        queues.sort_by(|a, b| a.name.cmp(&b.name));
        match self {
            Self::Name => {}
            Self::Ready => queues.sort_by_key(|queue| Reverse(queue.ready)),
            Self::Delayed => queues.sort_by_key(|queue| Reverse(queue.delayed)),
            Self::InWork => queues.sort_by_key(|queue| Reverse(queue.in_work)),
            Self::Dead => queues.sort_by_key(|queue| Reverse(queue.dead)),
            Self::Oldest => queues.sort_by_key(|queue| Reverse(queue.oldest)),
        }
    }
}

/// Sorts names: the highest figure first, and equal ones by name.
pub(crate) fn arrange(names: &mut [Snapshot], sort: SortBy) {
    names.sort_by(|a, b| a.name.cmp(&b.name));
    match sort {
        SortBy::Name => {}
        SortBy::Held => names.sort_by_key(|name| Reverse(name.permits_held)),
        SortBy::Waiting => names.sort_by_key(|name| Reverse(name.waiting_total)),
        SortBy::Oldest => names.sort_by_key(|name| Reverse(name.oldest_wait())),
    }
}
