//! Identities: tickets, leases, inboxes, fences.

use alloc::string::String;
use core::{fmt, str::FromStr};

/// The id of one request for permits, from the first try to the release. The client chooses it
/// before it sends anything, so a request that is sent twice is granted once. The high 96 bits are
/// its [`series`](Self::series), the low 32 bits its [`number`](Self::number) in it, from 1.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Ticket(pub u128);

/// The high 96 bits of the tickets that a client draws one after the other; the low 32 bits are 0.
/// A ledger remembers ended tickets by series, and not one by one.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Series(pub u128);

/// The id of one lease record at one name. Many tickets of a client may stand under one lease.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct LeaseId(pub u128);

/// The address at which a client hears of wakeups; also the id of its session.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Inbox(pub u128);

/// Ids are written as 32 hexadecimal digits.
macro_rules! hexadecimal {
    ($($name:ident),*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(str::from_utf8(&self.digits()).unwrap_or_default())
            }
        }

        impl $name {
            /// Returns the digits of the id. A client writes several ids in each request, and the
            /// general formatting of such a number takes ten times as long.
            #[must_use]
            pub fn digits(self) -> [u8; 32] {
                hexadecimal_digits(self.0)
            }
        }

        impl FromStr for $name {
            type Err = BadId;

            fn from_str(text: &str) -> Result<Self, BadId> {
                read_digits(text).map(Self).ok_or_else(|| BadId(String::from(text)))
            }
        }
    )*};
}
hexadecimal!(Ticket, Series, LeaseId, Inbox);

fn hexadecimal_digits(number: u128) -> [u8; 32] {
    let mut digits = [0; 32];
    let parts = number.to_be_bytes();
    for (eight, part) in digits.as_chunks_mut().0.iter_mut().zip(parts.as_chunks().0) {
        *eight = eight_digits(u32::from_be_bytes(*part));
    }
    digits
}

/// Returns eight digits at once, each in a byte of its own.
const fn eight_digits(number: u32) -> [u8; 8] {
    let mut halves = number as u64;
    halves = (halves | halves << 16) & 0x0000_ffff_0000_ffff;
    halves = (halves | halves << 8) & 0x00ff_00ff_00ff_00ff;
    halves = (halves | halves << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    // A digit of 10 or more becomes a letter. Adding six to it, and to no other, carries into the
    // next four bits.
    let letters = (halves + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101;
    (halves + 0x3030_3030_3030_3030 + letters * (b'a' - b'9' - 1) as u64).to_be_bytes()
}

/// The value of each byte as a hexadecimal digit; more than 15 for a byte that is none.
const DIGITS: [u8; 256] = {
    let mut digits = [0xff; 256];
    let mut value = 0;
    while value < 16 {
        digits[b"0123456789abcdef"[value as usize] as usize] = value;
        value += 1;
    }
    digits
};

fn read_digits(text: &str) -> Option<u128> {
    let digits: &[u8; 32] = text.as_bytes().try_into().ok()?;
    let (mut numbers, mut all) = ([0_u64; 2], 0);
    for (number, digits) in numbers.iter_mut().zip(digits.chunks_exact(16)) {
        for digit in digits.iter().map(|digit| DIGITS[usize::from(*digit)]) {
            all |= digit;
            *number = *number << 4 | u64::from(digit & 15);
        }
    }
    let [high, low] = numbers.map(u128::from);
    (all < 16).then_some(high << 64 | low)
}

impl From<Ticket> for LeaseId {
    /// Returns the lease under which only this ticket stands.
    fn from(ticket: Ticket) -> Self {
        Self(ticket.0)
    }
}

/// The bits of a ticket that are its number in its series.
const NUMBER: u128 = 0xffff_ffff;
/// The number of the lease of a series' waiters. No ticket has it.
const PLACE: u128 = 0x7fff_ffff;

impl Ticket {
    /// Returns the series that the ticket was drawn from.
    #[must_use]
    pub const fn series(self) -> Series {
        Series(self.0 & !NUMBER)
    }

    /// Returns the ticket's number in the series. A client draws the numbers ascending, from 1, and
    /// below that of a [`place`](Self::place).
    #[must_use]
    pub const fn number(self) -> u32 {
        (self.0 & NUMBER) as u32
    }

    /// Returns the lease under which the permits of a ticket stand: the lease of its series.
    #[must_use]
    pub const fn lease(self) -> LeaseId {
        LeaseId(self.series().0)
    }

    /// Returns the lease under which the ticket waits: the lease of all waiters of its series.
    #[must_use]
    pub const fn place(self) -> LeaseId {
        LeaseId(self.series().0 | PLACE)
    }
}

impl Series {
    /// Returns the ticket with this number.
    #[must_use]
    pub const fn ticket(self, number: u32) -> Ticket {
        Ticket(self.0 & !NUMBER | number as u128)
    }
}

impl From<LeaseId> for Series {
    /// Returns the series of the tickets that stand under this lease.
    fn from(lease: LeaseId) -> Self {
        Ticket(lease.0).series()
    }
}

impl LeaseId {
    /// Returns whether this is the lease of a series' waiters.
    #[must_use]
    pub const fn is_place(self) -> bool {
        self.0 & NUMBER == PLACE
    }

    /// Returns the ticket by which a ledger remembers that an attach with this lease is over.
    pub(crate) const fn as_ticket(self) -> Ticket {
        Ticket(self.0)
    }
}

/// Text that is not 32 lower-case hexadecimal digits.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BadId(pub String);

impl fmt::Display for BadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "not a ticket: {:?} (a ticket is 32 hexadecimal digits, as `acquire` printed it)",
            self.0
        )
    }
}

impl core::error::Error for BadId {}

/// A number that grows with every grant of a name. Give it to the resource that the permit guards.
/// The resource refuses a lower number than it has seen for the same slot.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Fence(pub u64);

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Draws the leases of one session, and with them the series of its tickets. Both follow from the
/// session's random inbox.
#[derive(Clone, Debug)]
pub struct TicketSource {
    session: u64,
    count: u32,
}

impl TicketSource {
    /// Makes a source for the session with this inbox, which must have been drawn at random.
    #[must_use]
    pub fn new(inbox: Inbox) -> Self {
        Self { session: (inbox.0 >> 64) as u64, count: inbox.0 as u32 }
    }

    /// Draws the first ticket of a new series.
    pub fn ticket(&mut self) -> Ticket {
        Series::from(self.lease()).ticket(1)
    }

    /// Draws the next lease, with a series of its own. A lease repeats only after four thousand
    /// million draws.
    pub fn lease(&mut self) -> LeaseId {
        self.count = self.count.wrapping_add(1);
        LeaseId(u128::from(self.session) << 64 | u128::from(mix_short(self.count)) << 32)
    }
}

/// Applies the finisher of MurmurHash3 (Appleby 2011). It is a bijection, so distinct counts stay
/// distinct.
const fn mix_short(count: u32) -> u32 {
    let mut z = count;
    z = (z ^ (z >> 16)).wrapping_mul(0x85eb_ca6b);
    z = (z ^ (z >> 13)).wrapping_mul(0xc2b2_ae35);
    z ^ (z >> 16)
}

/// Applies the finisher of SplitMix64 (Steele, Lea, Flood 2014). It is a bijection, so distinct
/// counts stay distinct.
pub(crate) const fn mix(count: u64) -> u64 {
    let mut z = count.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{format, string::ToString};

    #[test]
    fn ids_are_written_as_numbers_are_and_read_back() {
        let mut number = 0x0123_4567_89ab_cdef_fedc_ba98_7654_3210_u128;
        for id in [0, 1, u128::MAX, number].map(Ticket) {
            assert_eq!(id.to_string(), format!("{:032x}", id.0));
        }
        for _ in 0..1000 {
            number = u128::from(mix(number as u64)) << 64 | number >> 64;
            assert_eq!(Ticket(number).to_string(), format!("{number:032x}"));
            assert_eq!(Ticket(number).to_string().parse(), Ok(Ticket(number)));
        }
    }

    #[test]
    fn no_other_byte_is_a_digit_and_no_other_length_an_id() {
        for byte in (0..128_u8).filter(|byte| !b"0123456789abcdef".contains(byte)) {
            for at in [0, 15, 16, 31] {
                let mut text = [b'0'; 32];
                text[at] = byte;
                let text = str::from_utf8(&text).unwrap();
                assert_eq!(text.parse::<Ticket>(), Err(BadId(String::from(text))));
            }
        }
        for length in [0, 31, 33] {
            assert!("0".repeat(length).parse::<Inbox>().is_err());
        }
    }
}
