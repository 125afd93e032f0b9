//! The choices at the beginning of a prompt: a key, its words, and the next step.

use seinpaal::{ItemState, Kind};

use super::{PromptChoice, PromptField, QueueTarget, Then, TicketRow, TopDeed, in_words};

/// Returns the choices for a name, and for the holder or waiter at the cursor.
pub(super) fn of_name(
    is_paused: bool,
    kind: Option<Kind>,
    row: Option<TicketRow>,
) -> Vec<PromptChoice> {
    let mut choices = vec![match is_paused {
        true => ('r', "resume".to_owned(), Then::Confirm(TopDeed::Resume)),
        false => ('p', "pause".to_owned(), Then::Type(PromptField::Reason)),
    }];
    // The limits of other kinds are fixed.
    if matches!(kind, None | Some(Kind::Semaphore)) {
        choices.extend([
            ('l', "limit".to_owned(), Then::Type(PromptField::Limit)),
            ('u', "unset the limit".to_owned(), Then::Confirm(TopDeed::Unset)),
            ('v', "reserve".to_owned(), Then::Type(PromptField::Reservation)),
        ]);
    }
    let Some(TicketRow { ticket, shown }) = row else { return choices };
    choices.push(('e', format!("evict {shown}"), Then::Confirm(TopDeed::Evict { ticket, shown })));
    choices
}

/// Returns the choices for a queue, and for the item at the cursor.
pub(super) fn of_queue(is_paused: bool, row: Option<QueueTarget>) -> Vec<PromptChoice> {
    let confirm = |key, words: &str, deed| (key, words.to_owned(), Then::Confirm(deed));
    let mut choices = vec![
        ('l', "limit".to_owned(), Then::Type(PromptField::QueueLimit)),
        match is_paused {
            true => confirm('r', "resume", TopDeed::QueueResume),
            false => ('p', "pause".to_owned(), Then::Type(PromptField::QueueReason)),
        },
        confirm('x', "purge", TopDeed::Purge),
    ];
    let Some(QueueTarget { id, state, all }) = row else { return choices };
    let many = |which: &str| match all.matching.text.is_empty() {
        true => format!("all{which}"),
        false => format!("all {}{which} that match", all.items),
    };
    if state == ItemState::Dead {
        choices.extend([
            confirm('t', &format!("replay {id}"), TopDeed::Replay(id)),
            confirm('d', &format!("drop {id}"), TopDeed::Drop(id)),
            confirm('T', &format!("replay {}", many("")), TopDeed::ReplayAll(all.clone())),
            confirm('D', &format!("drop {}", many("")), TopDeed::DropAll(all)),
        ]);
    } else {
        let which = format!(" {}", in_words(state));
        let words = format!("cancel {}", many(&which));
        choices.push(confirm('c', &format!("cancel {id}"), TopDeed::Cancel(id)));
        choices.push(confirm('C', &words, TopDeed::CancelAll(state, all)));
    }
    choices
}
