//! The commands that may be in a group. Each has one key, handles plain data, and has no effect on
//! other keys.

use std::time::Duration;

use super::{BadGroup, CommandGroup};

/// The needs and effects of a command, in the four letters that
/// `crates/redis/src/lua/names/write.lua` explains.
pub type Shape = &'static str;

/// The most arguments of one command: Lua passes on no more than some thousands.
const MOST: usize = 1000;

/// The name, the shape, and the least and the most arguments besides the key.
struct CommandRule(&'static str, Shape, usize, usize);

#[rustfmt::skip]
const TABLE: [CommandRule; 58] = [
    // Any type.
    CommandRule("DEL", "-n-w", 0, 0), CommandRule("UNLINK", "-n-w", 0, 0), CommandRule("EXISTS", "---r", 0, 0), CommandRule("TYPE", "---r", 0, 0),
    CommandRule("EXPIRE", "---w", 1, 2), CommandRule("PEXPIRE", "---w", 1, 2), CommandRule("EXPIREAT", "---w", 1, 2),
    CommandRule("PEXPIREAT", "---w", 1, 2), CommandRule("PERSIST", "---w", 0, 0), CommandRule("TTL", "---r", 0, 0), CommandRule("PTTL", "---r", 0, 0),
    // Strings.
    CommandRule("GET", "s--r", 0, 0), CommandRule("SET", "-s-w", 1, 6), CommandRule("SETEX", "-s-w", 2, 2), CommandRule("PSETEX", "-s-w", 2, 2),
    CommandRule("GETSET", "ss-w", 1, 1), CommandRule("GETDEL", "sn-w", 0, 0), CommandRule("GETEX", "s--w", 0, 2), CommandRule("APPEND", "ss-w", 1, 1),
    CommandRule("STRLEN", "s--r", 0, 0), CommandRule("GETRANGE", "s--r", 2, 2), CommandRule("SETRANGE", "ss-w", 2, 2),
    CommandRule("INCR", "ssiw", 0, 0), CommandRule("DECR", "ssiw", 0, 0), CommandRule("INCRBY", "ssiw", 1, 1), CommandRule("DECRBY", "ssiw", 1, 1),
    CommandRule("INCRBYFLOAT", "ssfw", 1, 1), CommandRule("SETBIT", "ss-w", 2, 2), CommandRule("GETBIT", "s--r", 1, 1),
    // Hashes.
    CommandRule("HGET", "h--r", 1, 1), CommandRule("HMGET", "h--r", 1, MOST), CommandRule("HGETALL", "h--r", 0, 0), CommandRule("HLEN", "h--r", 0, 0),
    CommandRule("HEXISTS", "h--r", 1, 1), CommandRule("HSET", "hh-w", 2, MOST), CommandRule("HSETNX", "hh-w", 2, 2), CommandRule("HDEL", "h--w", 1, MOST),
    CommandRule("HINCRBY", "hhjw", 2, 2), CommandRule("HINCRBYFLOAT", "hhgw", 2, 2),
    // Lists.
    CommandRule("LPUSH", "ll-w", 1, MOST), CommandRule("RPUSH", "ll-w", 1, MOST), CommandRule("LPOP", "l--w", 0, 1), CommandRule("RPOP", "l--w", 0, 1),
    CommandRule("LLEN", "l--r", 0, 0), CommandRule("LRANGE", "l--r", 2, 2), CommandRule("LTRIM", "l--w", 2, 2), CommandRule("LREM", "l--w", 2, 2),
    // Sets.
    CommandRule("SADD", "ee-w", 1, MOST), CommandRule("SREM", "e--w", 1, MOST), CommandRule("SISMEMBER", "e--r", 1, 1), CommandRule("SCARD", "e--r", 0, 0),
    // Sorted sets.
    CommandRule("ZADD", "zz-w", 2, MOST), CommandRule("ZREM", "z--w", 1, MOST), CommandRule("ZINCRBY", "zz-w", 2, 2), CommandRule("ZSCORE", "z--r", 1, 1),
    CommandRule("ZCARD", "z--r", 0, 0), CommandRule("ZRANGE", "z--r", 2, 6), CommandRule("ZREMRANGEBYSCORE", "z--w", 2, 2),
];

/// Finds a command by its name in any case.
pub(super) fn find(name: &str, args: usize) -> Result<(&'static str, Shape), BadGroup> {
    let row = TABLE.iter().find(|row| row.0.eq_ignore_ascii_case(name));
    let Some(CommandRule(name, shape, least, most)) = row else {
        return Err(BadGroup::UnknownCommand(name.to_owned()));
    };
    // Fields and their values come in pairs. A hash that gets half of a pair would fail in the
    // middle.
    if args < *least || args > *most || (*name == "HSET" && args % 2 == 1) {
        return Err(BadGroup::Arguments(name, args, *least, *most));
    }
    Ok((name, shape))
}

const NONE: [&[u8]; 0] = [];

impl CommandGroup {
    /// `GET`: answers the value, or nothing.
    pub fn get(&mut self, key: impl AsRef<[u8]>) -> &mut Self {
        self.command("GET", key, &NONE)
    }

    /// `SET`: replaces the value, of whatever type, and its expiry.
    pub fn set(&mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> &mut Self {
        self.command("SET", key, &[value.as_ref()])
    }

    /// `SET` with an expiry, which is at least a millisecond.
    pub fn set_for(
        &mut self,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        time: Duration,
    ) -> &mut Self {
        let time = millis(time);
        self.command("SET", key, &[value.as_ref(), b"PX", time.as_bytes()])
    }

    /// `DEL`: answers how many keys were deleted, 0 or 1.
    pub fn del(&mut self, key: impl AsRef<[u8]>) -> &mut Self {
        self.command("DEL", key, &NONE)
    }

    /// `INCRBY`: answers the new number.
    pub fn incr_by(&mut self, key: impl AsRef<[u8]>, by: i64) -> &mut Self {
        self.command("INCRBY", key, &[by.to_string()])
    }

    /// `INCRBY` 1.
    pub fn incr(&mut self, key: impl AsRef<[u8]>) -> &mut Self {
        self.incr_by(key, 1)
    }

    /// `APPEND`: answers the new length of the value.
    pub fn append(&mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> &mut Self {
        self.command("APPEND", key, &[value])
    }

    /// `PEXPIRE`: answers 1, or 0 if there is no such key.
    pub fn expire(&mut self, key: impl AsRef<[u8]>, after: Duration) -> &mut Self {
        self.command("PEXPIRE", key, &[millis(after)])
    }

    /// `HSET`: answers 1 if the field is new, else 0.
    pub fn hset(
        &mut self,
        key: impl AsRef<[u8]>,
        field: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
    ) -> &mut Self {
        self.command("HSET", key, &[field.as_ref(), value.as_ref()])
    }

    /// `HGET`: answers the value of the field, or nothing.
    pub fn hget(&mut self, key: impl AsRef<[u8]>, field: impl AsRef<[u8]>) -> &mut Self {
        self.command("HGET", key, &[field])
    }

    /// `HDEL`: answers 1 if the field existed, else 0.
    pub fn hdel(&mut self, key: impl AsRef<[u8]>, field: impl AsRef<[u8]>) -> &mut Self {
        self.command("HDEL", key, &[field])
    }

    /// `LPUSH`: answers the new length of the list.
    pub fn lpush(&mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> &mut Self {
        self.command("LPUSH", key, &[value])
    }

    /// `RPUSH`: answers the new length of the list.
    pub fn rpush(&mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> &mut Self {
        self.command("RPUSH", key, &[value])
    }

    /// `SADD`: answers 1 if the member is new, else 0.
    pub fn sadd(&mut self, key: impl AsRef<[u8]>, member: impl AsRef<[u8]>) -> &mut Self {
        self.command("SADD", key, &[member])
    }

    /// `ZADD`: answers 1 if the member is new, else 0.
    pub fn zadd(
        &mut self,
        key: impl AsRef<[u8]>,
        member: impl AsRef<[u8]>,
        score: f64,
    ) -> &mut Self {
        let score = score.to_string();
        self.command("ZADD", key, &[score.as_bytes(), member.as_ref()])
    }
}

fn millis(time: Duration) -> String {
    time.as_millis().max(1).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_found_in_any_case_and_only_if_it_is_listed() {
        assert_eq!(find("incrby", 1), Ok(("INCRBY", "ssiw")));
        for name in ["FLUSHALL", "EVAL", "MSET", "RENAME", "BLPOP", "PUBLISH", "get "] {
            assert_eq!(find(name, 1), Err(BadGroup::UnknownCommand(name.into())), "{name}");
        }
    }

    #[test]
    fn too_few_and_too_many_arguments_are_refused() {
        for (name, args) in [("GET", 1), ("SET", 0), ("HSET", 3), ("HSET", 1), ("LPUSH", 1001)] {
            assert!(matches!(find(name, args), Err(BadGroup::Arguments(..))), "{name} {args}");
        }
    }

    #[test]
    fn every_shape_is_four_known_letters() {
        for CommandRule(name, shape, least, most) in TABLE {
            let letters: Vec<_> = shape.chars().collect();
            let known = ["shlez-", "shlezn-", "ijfg-", "rw"];
            assert!(letters.iter().zip(known).all(|(c, of)| of.contains(*c)), "{name}");
            assert!(letters.len() == 4 && least <= most, "{name}");
        }
    }

    #[test]
    fn a_group_that_is_empty_too_large_or_wrong_is_refused() {
        let mut group = CommandGroup::default();
        assert_eq!(group.check(), Err(BadGroup::Empty));
        group.set("k", vec![0; CommandGroup::MOST_BYTES]);
        assert_eq!(group.check(), Err(BadGroup::TooLarge));
        let mut group = CommandGroup::default();
        for _ in 0..=CommandGroup::MOST {
            group.get("k");
        }
        assert_eq!(group.check(), Err(BadGroup::TooLarge));
        let mut group = CommandGroup::default();
        group.get("k").command("FLUSHALL", "k", &NONE).get("k");
        assert_eq!(group.check(), Err(BadGroup::UnknownCommand("FLUSHALL".into())));
    }
}
