//! The header of a name's znode.

use seinpaal_proto::time::UNBOUNDED;
use seinpaal_store::packed::{Damaged, Packer, number};

pub(super) const FORMAT: u8 = 4;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Header {
    /// The life of the name to which these writes belong. A name that was forgotten and came back
    /// has another number.
    pub(super) incarnation: u64,
    /// The version that the base's znode had when these writes began.
    pub(super) base_version: i32,
    /// The number of hints written before the first one that is here.
    pub(super) hints_before: u64,
}

impl Header {
    /// Returns the format of a name's znode, if another version wrote it.
    pub(super) fn other_format(log: &[u8]) -> Option<u8> {
        // Formats are counted from 1. Data of other programs usually begins with a letter.
        log.first().copied().filter(|format| *format != FORMAT && (1..32).contains(format))
    }

    /// Reads the header of the name's znode.
    pub(super) fn parse(log: &[u8]) -> Result<(Self, &[u8]), Damaged> {
        let (format, rest) = log.split_first().ok_or(Damaged)?;
        if *format != FORMAT {
            return Err(Damaged);
        }
        let (incarnation, rest) = number(rest)?;
        let (base_version, rest) = number(rest)?;
        let (hints_before, rest) = number(rest)?;
        if hints_before > UNBOUNDED {
            // Wakeups are counted one by one, so a real count is never so large. A sum with it
            // could overflow.
            return Err(Damaged);
        }
        let base_version = i32::try_from(base_version).map_err(|_| Damaged)?;
        Ok((Self { incarnation, base_version, hints_before }, rest))
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut packer = Packer::bare();
        packer.byte(FORMAT);
        packer.number(self.incarnation);
        packer.number(self.base_version as u64);
        packer.number(self.hints_before);
        packer.into_bytes()
    }
}
