//! Answers of Redis and Valkey servers.

pub(crate) use seinpaal_redis::fuzzing::{
    answer, cluster_slots, guarded_write, quorum_node, refusal, sentinel, wakeup,
};
