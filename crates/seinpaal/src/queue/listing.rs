//! Lists of items, page by page.

use std::{
    fmt,
    str::FromStr,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use seinpaal_proto::{
    About, Fence, Name,
    queue::{
        BadItemPosition, DeliveryHistory, ItemId, ItemPosition, ItemRow, ItemState, Reply, Request,
        RowState,
    },
};

use super::{Queue, QueueError};

/// How many items one call reads when all items are read: so few that other clients do not wait
/// long for the store meanwhile.
const PAGE: u32 = 250;

/// An item of a list.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ListedItem {
    /// The number of the item.
    pub id: ItemId,
    /// Its state, with the details of that state.
    pub state: ListedState,
    /// Deliveries so far.
    pub attempt: u32,
    /// How many deliveries the item is allowed.
    pub deliveries: u32,
    /// The priority.
    pub priority: i8,
    /// The group.
    pub group: Option<Name>,
    /// The client that pushed the item, and the item's labels.
    pub pushed_by: About,
    /// When the item was pushed, by the store's clock.
    pub pushed_at: SystemTime,
    /// How its latest deliveries ended, the oldest first, at most eight.
    pub history: DeliveryHistory,
    /// The length of its payload in bytes.
    pub bytes: u32,
    /// The first 256 bytes of its payload.
    pub payload: Vec<u8>,
}

/// The state of a listed item.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ListedState {
    /// The item can be delivered, now or when its group has room.
    Ready,
    /// The item is not due yet.
    Delayed {
        /// When the item can be delivered, by the store's clock.
        due_at: SystemTime,
    },
    /// A worker works on the item.
    InWork {
        /// The number of the delivery.
        fence: Fence,
        /// The worker's description of itself.
        worker: Box<About>,
        /// How long the worker has had the item.
        worked_for: Duration,
        /// How long the lease lasts without renewal. `None` means for as long as the worker's
        /// process lives.
        valid_for: Option<Duration>,
    },
    /// The item has had all its deliveries.
    Dead {
        /// When the item died, by the store's clock.
        died_at: SystemTime,
    },
}

impl ListedState {
    /// Returns the kind of the state, without its details.
    #[must_use]
    pub fn state(&self) -> ItemState {
        match self {
            Self::Ready => ItemState::Ready,
            Self::Delayed { .. } => ItemState::Delayed,
            Self::InWork { .. } => ItemState::InWork,
            Self::Dead { .. } => ItemState::Dead,
        }
    }
}

/// Some items of one state.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ItemPage {
    /// The items, in their order.
    pub items: Vec<ListedItem>,
    /// Where the next page begins, or `None` after the last page.
    pub next: Option<ItemCursor>,
}

/// The place where a page of a list begins. A program may keep or send its text, and parse it
/// again.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct ItemCursor(ItemPosition);

impl ItemCursor {
    /// Returns the state of the items that are listed.
    #[must_use]
    pub fn state(&self) -> ItemState {
        self.0.state()
    }
}

impl fmt::Display for ItemCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A text that is no [`ItemCursor`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error(transparent)]
pub struct BadItemCursor(BadItemPosition);

impl FromStr for ItemCursor {
    type Err = BadItemCursor;

    fn from_str(text: &str) -> Result<Self, BadItemCursor> {
        text.parse().map(Self).map_err(BadItemCursor)
    }
}

impl Queue {
    /// Reads a page of the items of a state: up to `rows` items, 1000 at most, from the end of the
    /// page before. `None`, or a cursor of another state, reads from the first item.
    ///
    /// Ready items of groups come first, one group after the other, and then the items without a
    /// group, each in the order in which they are delivered. Delayed items come by the time when
    /// they are due, items in work by the ends of their leases, and dead letters by their numbers.
    ///
    /// A page can have fewer items than `rows`, or none, and still have a next page: a call reads
    /// at most 1 MiB of payload, and looks at no more than `rows` items. An item that keeps its
    /// state while the pages are read is listed. An item whose lease is renewed meanwhile can be
    /// listed twice.
    ///
    /// # Cancel safety
    /// Yes. The call only reads.
    ///
    /// # Errors
    /// As [`limit`](Self::limit).
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # use seinpaal::ItemState;
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let mails = seinpaal.queue("mails to list");
    /// for mail in ["to: ann", "to: bob", "to: eve"] {
    ///     mails.push(mail).await?;
    /// }
    /// let first = mails.items(ItemState::Ready, None, 2).await?;
    /// assert_eq!(first.items[0].payload, b"to: ann");
    /// let rest = mails.items(ItemState::Ready, first.next.as_ref(), 2).await?;
    /// assert_eq!((rest.items.len(), rest.next), (1, None));
    /// # mails.purge().await?;
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn items(
        &self,
        state: ItemState,
        after: Option<&ItemCursor>,
        rows: u32,
    ) -> Result<ItemPage, QueueError> {
        let after = after.filter(|after| after.state() == state);
        let after = after.map_or_else(|| ItemPosition::before(state), |after| after.0.clone());
        self.page(after, rows).await
    }

    /// Shows every item of a state to `look`, in the order of [`items`](Self::items).
    ///
    /// # Cancel safety
    /// Yes. The call only reads.
    ///
    /// # Errors
    /// As [`limit`](Self::limit).
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # use seinpaal::ItemState;
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let mut groups = Vec::new();
    /// let letters = seinpaal.queue("letters");
    /// letters.each_item(ItemState::Dead, |item| groups.push(item.group.clone())).await?;
    /// assert!(groups.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn each_item(
        &self,
        state: ItemState,
        mut look: impl FnMut(&ListedItem),
    ) -> Result<(), QueueError> {
        let mut after = ItemPosition::before(state);
        loop {
            let page = self.page(after, PAGE).await?;
            page.items.iter().for_each(&mut look);
            match page.next {
                Some(next) => after = next.0,
                None => return Ok(()),
            }
        }
    }

    /// Reads up to `rows` dead letters in the order of their numbers, beginning after `after`, or
    /// with the first if that is `None`.
    ///
    /// # Cancel safety
    /// Yes. The call only reads.
    ///
    /// # Errors
    /// As [`limit`](Self::limit).
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # use std::time::Duration;
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let mails = seinpaal.queue("mails that fail");
    /// mails.push("to: ann").deliveries(1).await?;
    /// mails.pop().await?.fail("no route to host", Duration::ZERO).await?;
    ///
    /// for letter in mails.dead(None, 10).await? {
    ///     println!("{}: {:?}", letter.id, letter.history);
    ///     mails.replay(letter.id).await?;
    /// }
    /// # mails.pop().await?.acknowledge().await?;
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn dead(
        &self,
        after: Option<ItemId>,
        rows: u32,
    ) -> Result<Vec<ListedItem>, QueueError> {
        let after = ItemPosition::Dead(after.unwrap_or(ItemId(0)));
        self.page(after, rows).await.map(|page| page.items)
    }

    async fn page(&self, after: ItemPosition, rows: u32) -> Result<ItemPage, QueueError> {
        match self.ask(Request::List { after, rows }).await? {
            Reply::Items { rows, next } => Ok(ItemPage {
                items: rows.into_iter().map(ListedItem::from).collect(),
                next: next.map(ItemCursor),
            }),
            _ => Err(QueueError::misfit()),
        }
    }
}

impl From<ItemRow> for ListedItem {
    fn from(row: ItemRow) -> Self {
        Self {
            id: row.id,
            state: ListedState::from(row.state),
            attempt: row.attempt,
            deliveries: row.most,
            priority: row.priority.get(),
            group: row.group,
            pushed_by: About::decode(&row.about),
            pushed_at: UNIX_EPOCH + Duration::from_micros(row.pushed),
            history: row.history,
            bytes: row.bytes,
            payload: row.payload,
        }
    }
}

impl From<RowState> for ListedState {
    fn from(state: RowState) -> Self {
        match state {
            RowState::Delayed { due } => {
                Self::Delayed { due_at: UNIX_EPOCH + Duration::from_micros(due) }
            }
            RowState::InWork { fence, by: _, about, worked, valid_for } => Self::InWork {
                fence,
                worker: Box::new(About::decode(&about)),
                worked_for: Duration::from_micros(worked),
                valid_for: valid_for.map(Duration::from_micros),
            },
            RowState::Dead { at } => Self::Dead { died_at: UNIX_EPOCH + Duration::from_micros(at) },
            RowState::Ready => Self::Ready,
        }
    }
}
