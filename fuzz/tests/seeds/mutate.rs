//! Makes small changes to seeds, the same ones in every run.

/// SplitMix64 (Steele, Lea, Flood 2014).
pub(super) struct MutationDice(pub(super) u64);

impl MutationDice {
    /// A number from 0 up to, but not including, `end`, which is above 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }

    /// A seed after one to eight changes.
    pub(super) fn mutant(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = seeds[self.below(seeds.len())].clone();
        for _ in 0..=self.below(8) {
            let other = &seeds[self.below(seeds.len())];
            self.change(&mut bytes, other);
        }
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        let at = self.below(bytes.len() + 1);
        match self.below(7) {
            0 => flip(bytes, at, 1 << self.below(8)),
            1 => bytes.insert(at, self.below(256) as u8),
            2 => drop(bytes.drain(at..(at + 1 + self.below(4)).min(bytes.len()).max(at))),
            3 => self.splice(bytes, at, other),
            4 => self.write_a_number(bytes, at),
            5 => flip(bytes, at, 0xff),
            _ => self.repeat(bytes, at),
        }
    }

    fn splice(&mut self, bytes: &mut Vec<u8>, at: usize, other: &[u8]) {
        let from = self.below(other.len() + 1);
        let to = from + self.below(other.len() - from + 1);
        bytes.splice(at..at, other[from..to].iter().copied());
    }

    /// Writes an edge of a number type, in place of the digits there if there are any.
    fn write_a_number(&mut self, bytes: &mut Vec<u8>, at: usize) {
        const EDGES: [&str; 9] = [
            "0",
            "-1",
            "2147483648",
            "4294967295",
            "4294967296",
            "9007199254740993",
            "9223372036854775807",
            "18446744073709551615",
            "99999999999999999999999999999999999999999",
        ];
        let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        bytes.splice(at..at + digits, EDGES[self.below(EDGES.len())].bytes());
    }

    fn repeat(&mut self, bytes: &mut Vec<u8>, at: usize) {
        let part = bytes[at..(at + 1 + self.below(16)).min(bytes.len())].to_vec();
        let times = self.below(6);
        bytes.splice(at..at, part.repeat(times));
    }
}

fn flip(bytes: &mut [u8], at: usize, bits: u8) {
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= bits;
    }
}
