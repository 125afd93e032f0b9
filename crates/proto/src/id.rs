//! Identities: tickets, leases, inboxes, fences.

use alloc::string::String;
use core::{fmt, str::FromStr};

macro_rules! hex_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub struct $name(pub u128);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:032x}", self.0)
            }
        }

        impl FromStr for $name {
            type Err = BadId;

            fn from_str(text: &str) -> Result<Self, BadId> {
                let plain = text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
                if text.len() != 32 || !plain {
                    return Err(BadId(String::from(text)));
                }
                u128::from_str_radix(text, 16).map(Self).map_err(|_| BadId(String::from(text)))
            }
        }
    };
}

hex_id! {
    /// The id of one request for permits, from the first try to the release. The client chooses it
    /// before it sends anything, so that sending twice is one grant.
    Ticket
}
hex_id! {
    /// The id of one lease record at one name. Many tickets of a client may stand under one lease.
    LeaseId
}
hex_id! {
    /// Where a client is told things; also the id of its session.
    Inbox
}

impl From<Ticket> for LeaseId {
    /// The lease that a ticket has to itself.
    fn from(ticket: Ticket) -> Self {
        Self(ticket.0)
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

/// A number that grows with every grant of a name. Give it to the resource, which refuses a lower
/// one than it has seen for the same slot.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Fence(pub u64);

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Draws the tickets and leases of one session from its random seed, without repeating one.
#[derive(Clone, Debug)]
pub struct TicketSource {
    session: u64,
    count: u64,
}

impl TicketSource {
    /// A source for the session with this inbox; the inbox must have been drawn at random.
    #[must_use]
    pub fn new(inbox: Inbox) -> Self {
        Self { session: (inbox.0 >> 64) as u64, count: inbox.0 as u64 }
    }

    /// The next ticket.
    pub fn ticket(&mut self) -> Ticket {
        self.count = self.count.wrapping_add(1);
        Ticket(u128::from(self.session) << 64 | u128::from(mix(self.count)))
    }

    /// The next lease.
    pub fn lease(&mut self) -> LeaseId {
        LeaseId(self.ticket().0)
    }
}

/// The finisher of SplitMix64 (Steele, Lea, Flood 2014): a bijection, so distinct counts stay distinct.
pub(crate) fn mix(count: u64) -> u64 {
    let mut z = count.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
