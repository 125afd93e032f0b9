//! The mistakes by name, and the effect of the mistakes about lists on an answer.

use seinpaal_proto::queue::{ItemPosition, ItemRow, RowState};

/// One mistake.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Mistake {
    None,
    ForgetsAcknowledgements,
    DeliversTwice,
    IgnoresLimit,
    IgnoresGroupLimit,
    LosesOrder,
    IgnoresPriority,
    DropsCalls,
    CallsEverybody,
    TellsNobodyToLook,
    TellsOfNoLoss,
    RepeatsBatches,
    IgnoresDeadlines,
    RoundsDelays,
    ForgetsKeys,
    TakesPayloadsForText,
    CutsPayloadsAtZero,
    IgnoresPauses,
    NeverBuries,
    ForgetsReasons,
    CountsGivingBack,
    GivesBackToTheEnd,
    BelievesLateWorkers,
    ForgetsRenewals,
    NeverEndsLeases,
    ListsFull,
    CutsNames,
    AnswersWithoutBound,
    ListsOneTooFew,
    ListsOneTwice,
    ListsOnePage,
    ListsOutOfOrder,
    ListsNoTimes,
    SparesNobody,
}

impl Mistake {
    /// Spoils a page of items.
    pub(super) fn spoil_page(self, rows: &mut Vec<ItemRow>, next: &mut Option<ItemPosition>) {
        match self {
            Self::ListsOneTooFew if next.is_some() => drop(rows.pop()),
            Self::ListsOneTwice if next.is_some() => rows.extend(rows.first().cloned()),
            Self::ListsOnePage => *next = None,
            Self::ListsOutOfOrder => rows.reverse(),
            Self::ListsNoTimes => rows.iter_mut().for_each(|row| match &mut row.state {
                RowState::Delayed { due: at } | RowState::Dead { at } => *at = 0,
                RowState::InWork { worked, .. } => *worked = 0,
                _ => {}
            }),
            _ => {}
        }
    }
}
