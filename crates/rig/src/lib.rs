//! The base of every suite: real servers, wall clocks that can be set, and a network and a store
//! that go wrong on demand.
//!
//! Each server runs in a temporary directory of its own on a free port. It is killed by its process
//! id when its handle is dropped.
//!
//! # Example
//! ```no_run
//! let mut server = seinpaal_rig::RedisServer::start();
//! server.say(&["SET", "key", "value"])?;
//! server.start_again();
//! assert_eq!(server.say(&["GET", "key"])?, [""], "the server keeps nothing on disk");
//! # Ok::<(), std::io::Error>(())
//! ```

mod clocks;
mod cluster;
mod fake;
mod process;
pub mod program;
mod proxy;
mod random;
mod redis;
mod say;
pub mod seam;
mod sentinel;
mod zookeeper;

pub use clocks::Clocks;
pub use cluster::{Node, RedisCluster};
pub use fake::{FakeAnswer, FakeServer};
pub use process::{free_port, signal, until};
pub use proxy::{Direction, Mode, Proxy};
pub use random::{between, fork};
pub use redis::RedisServer;
pub use say::say;
pub use seam::{Between, Fault, Faults, Interposed, SeamCall, news_through};
pub use sentinel::{MASTER, SentinelServers};
pub use zookeeper::ZookeeperEnsemble;
