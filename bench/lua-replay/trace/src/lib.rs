//! What the histories of names and of queues have in common.
use seinpaal_proto::*;
use std::collections::BTreeMap;
pub struct Rng(pub u64);
impl Rng {
    pub fn next(&mut self) -> u64 { self.0 = self.0.wrapping_add(0x9e3779b97f4a7c15); let mut z = self.0; z = (z ^ (z >> 30)).wrapping_mul(0xbf58476d1ce4e5b9); z = (z ^ (z >> 27)).wrapping_mul(0x94d049bb133111eb); z ^ (z >> 31) }
    pub fn below(&mut self, n: u64) -> u64 { self.next() % n }
    pub fn one_in(&mut self, n: u64) -> bool { self.below(n) == 0 }
    pub fn of<T: Copy>(&mut self, list: &[T]) -> T { list[self.below(list.len() as u64) as usize] }
}
/// Which inboxes are listened at, and how long the restart guard lasts.
pub struct Ears<'a>(pub &'a BTreeMap<u128, bool>, pub Option<u64>);
impl Contacts for Ears<'_> {
    fn contact(&mut self, inbox: Inbox) -> Contact { if self.0.get(&inbox.0).copied().unwrap_or(false) { Contact::Listening } else { Contact::Silent } }
    fn guarded_for(&mut self) -> Option<u64> { self.1 }
}
pub fn hex(b: &[u8]) -> String { b.iter().map(|x| format!("{x:02x}")).collect() }
pub const UNBOUNDED: u64 = 1 << 53;
pub fn f(b: &mut Vec<u8>, v: u64) { b.extend((v as f64).to_le_bytes()) }
pub fn u(b: &mut Vec<u8>, v: u32) { b.extend(v.to_le_bytes()) }
pub fn text(b: &mut Vec<u8>, s: &str) { b.extend((s.len() as u16).to_le_bytes()); b.extend(s.as_bytes()) }
