//! Numbers and ids in few bytes. Everything that is packed together shares one dictionary of ids,
//! and instants are kept as distances from one moment. In this way ten thousand waiters fit into a
//! znode.

use std::collections::HashMap;

/// The error for bytes that are not those that were written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Damaged;

/// Writes one record.
#[derive(Debug)]
pub struct Packer {
    bytes: Vec<u8>,
    at: u64,
    ids: HashMap<u128, u64>,
    halves: HashMap<u64, u64>,
}

impl Packer {
    /// Makes a packer that keeps instants as distances from `at`.
    pub fn new(at: u64) -> Self {
        let mut packer = Self { at, ..Self::bare() };
        packer.number(at);
        packer
    }

    /// Makes a packer for numbers alone.
    pub fn bare() -> Self {
        Self { bytes: Vec::new(), at: 0, ids: HashMap::new(), halves: HashMap::new() }
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub fn byte_count(&self) -> usize {
        self.bytes.len()
    }

    pub fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    /// Writes a number, seven bits a byte, the lowest first.
    pub fn number(&mut self, mut number: u64) {
        while number > 0x7f {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    pub fn instant(&mut self, instant: u64) {
        self.signed(instant.wrapping_sub(self.at) as i64);
    }

    /// Writes a number of either sign. Small ones take few bytes.
    pub fn signed(&mut self, number: i64) {
        self.number((number << 1 ^ number >> 63) as u64);
    }

    pub fn at(&self) -> u64 {
        self.at
    }

    pub fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// Writes an id. An id that was written before is kept as its number in the dictionary. Upper
    /// and lower halves have entries of their own, because the ids of one client share their upper
    /// half.
    pub fn id(&mut self, id: u128) {
        if let Some(index) = self.ids.get(&id) {
            return self.number(index + 1);
        }
        self.number(0);
        let (upper, lower) = ((id >> 64) as u64, id as u64);
        match self.halves.get(&upper) {
            Some(index) => self.number(index + 1),
            None => {
                self.number(0);
                self.bytes.extend_from_slice(&upper.to_be_bytes());
                self.halves.insert(upper, self.halves.len() as u64);
            }
        }
        self.bytes.extend_from_slice(&lower.to_be_bytes());
        self.ids.insert(id, self.ids.len() as u64);
    }

    pub fn maybe_id(&mut self, id: Option<u128>) {
        self.byte(id.is_some().into());
        if let Some(id) = id {
            self.id(id);
        }
    }
}

/// Reads one record.
pub struct Unpacker<'a> {
    rest: &'a [u8],
    at: u64,
    ids: Vec<u128>,
    halves: Vec<u64>,
}

impl<'a> Unpacker<'a> {
    pub fn new(bytes: &'a [u8]) -> Result<Self, Damaged> {
        let mut unpacker = Self { rest: bytes, at: 0, ids: Vec::new(), halves: Vec::new() };
        unpacker.at = unpacker.number()?;
        Ok(unpacker)
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub fn at(&self) -> u64 {
        self.at
    }

    pub fn byte(&mut self) -> Result<u8, Damaged> {
        Ok(self.take(1)?[0])
    }

    pub fn number(&mut self) -> Result<u64, Damaged> {
        let (number, rest) = number(self.rest)?;
        self.rest = rest;
        Ok(number)
    }

    pub fn small(&mut self) -> Result<u32, Damaged> {
        u32::try_from(self.number()?).map_err(|_| Damaged)
    }

    pub fn instant(&mut self) -> Result<u64, Damaged> {
        Ok(self.at.wrapping_add(self.signed()? as u64))
    }

    pub fn signed(&mut self) -> Result<i64, Damaged> {
        let number = self.number()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    pub fn text(&mut self) -> Result<String, Damaged> {
        let length = usize::try_from(self.number()?).map_err(|_| Damaged)?;
        String::from_utf8(self.take(length)?.to_vec()).map_err(|_| Damaged)
    }

    pub fn id(&mut self) -> Result<u128, Damaged> {
        match self.number()? {
            0 => {
                let upper = match self.number()? {
                    0 => {
                        let upper = self.half()?;
                        self.halves.push(upper);
                        upper
                    }
                    index => *self.halves.get(index as usize - 1).ok_or(Damaged)?,
                };
                let id = u128::from(upper) << 64 | u128::from(self.half()?);
                self.ids.push(id);
                Ok(id)
            }
            index => self.ids.get(index as usize - 1).copied().ok_or(Damaged),
        }
    }

    pub fn maybe_id(&mut self) -> Result<Option<u128>, Damaged> {
        match self.byte()? {
            0 => Ok(None),
            _ => self.id().map(Some),
        }
    }

    fn half(&mut self) -> Result<u64, Damaged> {
        let bytes = self.take(8)?.try_into().map_err(|_| Damaged)?;
        Ok(u64::from_be_bytes(bytes))
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Damaged> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(Damaged)?;
        self.rest = rest;
        Ok(taken)
    }
}

/// Returns the number at the front, and the bytes behind it.
pub fn number(bytes: &[u8]) -> Result<(u64, &[u8]), Damaged> {
    let mut number = 0u64;
    for (i, byte) in bytes.iter().take(10).enumerate() {
        number |= u64::from(byte & 0x7f) << (7 * i);
        if byte & 0x80 == 0 {
            return Ok((number, &bytes[i + 1..]));
        }
    }
    Err(Damaged)
}
