//! Lists the names that a server has, a page at a time, with the snapshot of each.
//!
//! On one server a script reads a page of names. In a cluster a script may use the keys of only one
//! slot, so each call reads one name, and many calls are under way at the same time.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::{join_all, try_join, try_join_all};
use redis::Value;
use seinpaal_proto::{Batch, Name, Replies, Reply, Request, Snapshot};

use super::{ANSWER_ROOM, ROW_ROOM, RedisStore, decode, script::Script};
use seinpaal_store::StoreError;

/// How many names one script lists: so many that a list needs few calls, and so few that other
/// clients do not wait long.
const PAGE: usize = 100;
/// How many pages are asked for at the same time: the server works on one page while another is
/// read here.
const PAGES: usize = 2;
/// How many calls are under way at the same time if each is about one name.
pub(super) const AT_ONCE: usize = 64;
/// How many waiters a listed snapshot shows at most.
const LISTED_WAITERS: u32 = 64;
/// How many waiters a page shows at most. In the script this is `rows_left`.
const PAGE_ROWS: usize = 256;

type ListedNames = BTreeMap<Name, Snapshot>;

/// The row of a name in a page.
enum ListedRow {
    Listed(Snapshot),
    /// Nobody holds or waits there, and nothing is configured.
    Unused,
    /// The name has to be settled first, or too much would have to be read.
    Look,
}

impl RedisStore {
    pub(super) async fn snapshots(
        &self,
        prefix: &str,
    ) -> Result<Vec<(Name, Snapshot)>, StoreError> {
        let (pattern, mut listed) = (self.keys.pattern(prefix), ListedNames::new());
        for server in self.servers.scanned().await? {
            let mut page = Some(server.page(&pattern, 0).await?);
            while let Some((next, keys)) = page {
                let names = keys.iter().filter_map(|key| self.keys.name_of(key));
                // `SCAN` may give a key again, and its name is not asked for a second time.
                let new: BTreeSet<_> = names.filter(|name| !listed.contains_key(name)).collect();
                // The server looks for the next page while this one is read here.
                let ahead = async {
                    match next {
                        Some(at) => server.page(&pattern, at).await.map(Some),
                        None => Ok(None),
                    }
                };
                let told = self.tell_of(new.into_iter().collect(), &mut listed);
                ((), page) = try_join(told, ahead).await?;
            }
        }
        Ok(listed.into_iter().collect())
    }

    /// Adds these names to the list.
    async fn tell_of(&self, names: Vec<Name>, listed: &mut ListedNames) -> Result<(), StoreError> {
        let mut unclear = Vec::new();
        let (page, at_once) = if self.servers.has_slots() { (1, AT_ONCE) } else { (PAGE, PAGES) };
        for names in names.chunks(page * at_once) {
            let pages = names.chunks(page).map(|names| self.page(names));
            let told = try_join_all(pages).await?.into_iter().flatten();
            for (name, told) in names.iter().zip(told) {
                match told {
                    ListedRow::Listed(snapshot) => drop(listed.insert(name.clone(), snapshot)),
                    ListedRow::Unused => {}
                    ListedRow::Look => unclear.push(name.clone()),
                }
            }
        }
        self.look_at(&unclear, listed).await
    }

    /// Asks a script for these names.
    async fn page(&self, names: &[Name]) -> Result<Vec<ListedRow>, StoreError> {
        let now = self.given_now().map(|now| now.to_string()).unwrap_or_default();
        let arguments = vec![LISTED_WAITERS.to_string().into_bytes(), now.into_bytes()];
        let (keys, arguments) = (self.keys_of(names), self.arguments_of(arguments));
        let room = ANSWER_ROOM + PAGE_ROWS * 2 * ROW_ROOM;
        let (answer, _) = self.servers.evaluate(Script::Read, &keys, &arguments, room).await?;
        read(&answer, names.len()).ok_or_else(|| decode::unreadable(&answer))
    }

    /// Inspects each of these names by itself.
    async fn look_at(&self, names: &[Name], listed: &mut ListedNames) -> Result<(), StoreError> {
        for names in names.chunks(AT_ONCE) {
            let looks = join_all(names.iter().map(|name| self.inspect(name))).await;
            for (name, look) in names.iter().zip(looks) {
                take_look(name, look, listed)?;
            }
        }
        Ok(())
    }

    async fn inspect(&self, name: &Name) -> Result<Option<Snapshot>, StoreError> {
        self.execute(&inspection(name)).await.map(listed)
    }
}

/// Adds a snapshot to the list. The record of one name may be damaged, and that must not hide the
/// other names.
pub(super) fn take_look<S>(
    name: &Name,
    look: Result<Option<S>, StoreError>,
    listed: &mut BTreeMap<Name, S>,
) -> Result<(), StoreError> {
    match look {
        Ok(Some(snapshot)) => drop(listed.insert(name.clone(), snapshot)),
        Ok(None) => {}
        Err(error) if error.is_about_what_is_kept() => {
            tracing::warn!(target: crate::TARGET, %name, %error, "passed over");
        }
        Err(error) => return Err(error),
    }
    Ok(())
}

/// The batch that looks at a name for a list.
pub(super) fn inspection(name: &Name) -> Batch {
    let requests = vec![Request::Inspect { rows: LISTED_WAITERS }];
    Batch { name: name.clone(), inbox: None, fence_seen: 0, requests }
}

/// The snapshot that answers an [`inspection`], as a list shows it: without holders. `None` if the
/// list leaves the name out. The script of lists answers `unused` by the same rule.
pub(super) fn listed(replies: Replies) -> Option<Snapshot> {
    let Reply::Snapshot(mut snapshot) = replies.replies.into_iter().next()? else { return None };
    snapshot.holders.clear();
    snapshot.is_worth_listing().then_some(snapshot)
}

fn read(answer: &Value, names: usize) -> Option<Vec<ListedRow>> {
    let Value::Array(told) = answer else { return None };
    let told = told.iter().map(told_of).collect::<Option<Vec<_>>>()?;
    (told.len() == names).then_some(told)
}

fn told_of(value: &Value) -> Option<ListedRow> {
    match value {
        Value::BulkString(word) if word == b"unused" => Some(ListedRow::Unused),
        Value::BulkString(word) if word == b"look" => Some(ListedRow::Look),
        // A name that is damaged does not hide the others.
        Value::BulkString(page) => {
            Some(decode::listed(page).map_or(ListedRow::Look, ListedRow::Listed))
        }
        _ => None,
    }
}
