//! Short forms of tickets: as few digits as tell a ticket from all others of its name, and the way
//! back from those digits to the ticket.
//!
//! The first digits of a ticket belong to a client, and the last ones number its requests. So the
//! tickets of a service with many permits begin alike. A short ticket is `7c02e1aa` if the
//! beginning is enough. Otherwise it is `7c02e1aa-1f`: the beginning, and the number of the
//! request.

use std::fmt;

use seinpaal::{Snapshot, Ticket};

/// How many digits a ticket has.
pub const DIGITS: usize = 32;
/// How many of these digits number the request.
const NUMBER_DIGITS: usize = 8;
/// The fewest digits that are shown. With fewer digits, a later ticket might well begin alike, and
/// a command would then hit that ticket.
const LEAST: usize = 8;

/// The tickets of one snapshot, in order, to find short forms for them.
#[derive(Debug)]
pub struct ShortTickets(Vec<Ticket>);

impl ShortTickets {
    /// Takes the tickets of all holders and waiters.
    #[must_use]
    pub fn of(seen: &Snapshot) -> Self {
        let mut all: Vec<_> = tickets(seen).collect();
        all.sort_unstable();
        all.dedup();
        Self(all)
    }

    /// Returns the shortest form that [means](TicketStart::means) this ticket and no other of the
    /// snapshot.
    #[must_use]
    pub fn short(&self, ticket: Ticket) -> String {
        let at = self.0.partition_point(|other| *other < ticket);
        let before = self.0[..at].iter().rev();
        let behind = self.0[at..].iter().filter(|other| **other != ticket);
        // In sorted order, the tickets that share most digits with this one are next to it. A
        // ticket that shares fewer digits than are shown anyway makes no difference, and neither
        // does any ticket beyond it.
        let near = |other: &&Ticket| shared(ticket, **other) >= LEAST;
        shortest(ticket, before.take_while(near).chain(behind.take_while(near)).copied())
    }
}

/// Returns the short form of one ticket of a snapshot, as [`ShortTickets::short`] does.
#[must_use]
pub fn short(seen: &Snapshot, ticket: Ticket) -> String {
    shortest(ticket, tickets(seen).filter(|other| *other != ticket))
}

/// Returns the tickets of all holders and waiters.
pub fn tickets(seen: &Snapshot) -> impl Iterator<Item = Ticket> {
    let holders = seen.holders.iter().map(|holder| holder.ticket);
    holders.chain(seen.waiters.iter().map(|waiter| waiter.ticket))
}

fn shortest(ticket: Ticket, others: impl Iterator<Item = Ticket>) -> String {
    let (mut alike, mut alike_in_number) = (LEAST - 1, LEAST - 1);
    for other in others {
        let shared = shared(ticket, other);
        alike = alike.max(shared);
        if other.number() == ticket.number() {
            alike_in_number = alike_in_number.max(shared);
        }
    }
    let text = ticket.to_string();
    // A client that has reached a later number makes many requests. Its next request may have the
    // same beginning soon, so the beginning alone is not enough.
    if ticket.number() == 1 && alike < DIGITS / 2 {
        return text[..=alike].to_owned();
    }
    let begin = (alike_in_number + 1).min(DIGITS - NUMBER_DIGITS);
    format!("{}-{:x}", &text[..begin], ticket.number())
}

/// Returns how many digits two tickets have in common at their beginning.
fn shared(one: Ticket, other: Ticket) -> usize {
    (one.0 ^ other.0).leading_zeros() as usize / 4
}

/// A ticket as a user typed it: all digits, the beginning, or the beginning and the number.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TicketStart {
    begin: String,
    number: Option<u32>,
}

impl TicketStart {
    /// Reads `7c02`, `7c02-1f` or all 32 digits. Any other text is `None`.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let (begin, number) = match text.split_once('-') {
            Some((begin, number)) => (begin, Some(number)),
            None => (text, None),
        };
        let is_number = |digits: &str, most: usize| {
            (1..=most).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit())
        };
        let most = if number.is_some() { DIGITS - NUMBER_DIGITS } else { DIGITS };
        if !is_number(begin, most) || number.is_some_and(|it| !is_number(it, NUMBER_DIGITS)) {
            return None;
        }
        let number = number.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        Some(Self { begin: begin.to_ascii_lowercase(), number })
    }

    /// Returns the ticket, if the user typed all its digits.
    #[must_use]
    pub fn whole(&self) -> Option<Ticket> {
        if self.number.is_some() { None } else { self.begin.parse().ok() }
    }

    /// Returns whether the user may mean this ticket.
    #[must_use]
    pub fn means(&self, ticket: Ticket) -> bool {
        let is_number = self.number.is_none_or(|number| number == ticket.number());
        is_number && ticket.to_string().starts_with(&self.begin)
    }
}

impl fmt::Display for TicketStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.begin)?;
        self.number.map_or(Ok(()), |number| write!(f, "-{number:x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: u128 = 0x7c02_e1aa_1111_2222_3333_4444_0000_0001;
    const OTHER: u128 = 0x19d3_b7c5_1111_2222_3333_4444_0000_0001;

    fn all(tickets: &[u128]) -> ShortTickets {
        let mut all: Vec<_> = tickets.iter().copied().map(Ticket).collect();
        all.sort_unstable();
        ShortTickets(all)
    }

    /// Checks that each short form means its ticket and no other, and that both functions make the
    /// same short form.
    fn shorts(tickets: &[u128]) -> Vec<String> {
        let all = all(tickets);
        let one = |ticket: u128| {
            let text = all.short(Ticket(ticket));
            let start = TicketStart::read(&text).expect("a short ticket can be read");
            let meant: Vec<_> = all.0.iter().filter(|it| start.means(**it)).collect();
            assert_eq!(meant, [&Ticket(ticket)], "{text}");
            let others = all.0.iter().copied().filter(|it| it.0 != ticket);
            assert_eq!(shortest(Ticket(ticket), others), text);
            assert_eq!(start.to_string(), text);
            text
        };
        tickets.iter().map(|ticket| one(*ticket)).collect()
    }

    #[test]
    fn tickets_of_different_clients_are_told_by_eight_digits() {
        assert_eq!(shorts(&[RUN, OTHER]), ["7c02e1aa", "19d3b7c5"]);
        assert_eq!(shorts(&[RUN]), ["7c02e1aa"]);
    }

    #[test]
    fn clients_that_begin_alike_are_told_by_as_many_digits_as_it_takes() {
        let near = RUN ^ (1 << 88);
        assert_eq!(shorts(&[RUN, near, OTHER]), ["7c02e1aa11", "7c02e1aa10", "19d3b7c5"]);
    }

    #[test]
    fn tickets_of_one_client_are_told_by_their_numbers() {
        let of = |number: u128| RUN - 1 + number;
        let read = shorts(&[of(1), of(2), of(0x11f), OTHER]);
        assert_eq!(read, ["7c02e1aa-1", "7c02e1aa-2", "7c02e1aa-11f", "19d3b7c5"]);
        let alone = shorts(&[of(0x1f)]);
        assert_eq!(alone, ["7c02e1aa-1f"], "the beginning may be that of the next");
    }

    #[test]
    fn equal_numbers_of_two_series_are_told_by_the_series() {
        let other_series = RUN ^ (1 << 40);
        let read = shorts(&[RUN, other_series, RUN + 1]);
        assert_eq!(read[0], "7c02e1aa11112222333344-1");
        assert_eq!(read[2], "7c02e1aa-2");
    }

    #[test]
    fn a_number_is_all_of_the_number_and_a_beginning_may_be_any_part() {
        let means = |text: &str, ticket: u128| {
            TicketStart::read(text).is_some_and(|start| start.means(Ticket(ticket)))
        };
        assert!(means("7", RUN) && means("7C02-1", RUN) && means("7c02-0001", RUN));
        assert!(!means("7c02-1", RUN + 0x10) && !means("7c02-2", RUN) && !means("8", RUN));
        let whole = Ticket(RUN).to_string();
        assert_eq!(TicketStart::read(&whole).and_then(|it| it.whole()), Some(Ticket(RUN)));
        for wrong in ["", "-", "-1", "7c-", "7c-1-2", "xyz", "7c -1", "+7", "7c-123456789"] {
            assert_eq!(TicketStart::read(wrong), None, "{wrong}");
        }
        assert_eq!(TicketStart::read(&format!("{whole}0")), None);
        assert_eq!(TicketStart::read(&format!("{whole}-1")), None);
    }
}
