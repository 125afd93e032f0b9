//! A name's state in few bytes, for stores that keep it in one piece, such as a znode or a row.

mod bytes;
mod facts;

pub use self::facts::pack;
pub use self::facts::unpack;
pub use self::{
    bytes::{Damaged, Packer, Unpacker, number},
    facts::{
        put_cause, put_entry, put_free, put_head, put_lease, put_memory, put_slots, repeat_fact,
        sound, take_cause, take_slots,
    },
};
