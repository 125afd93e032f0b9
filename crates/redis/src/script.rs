//! The scripts: which there are, what they are given, and how a batch is written for them.

use std::{fmt::Write, sync::OnceLock};

use redis::Script;
use seinpaal_proto::{
    Acquire, Attach, Batch, Configure, Enqueue, LimitRule, OnMismatch, Renew, Request, Ticket,
    Whom,
    time::{Micros, micros},
};
use seinpaal_store::url::RestartGuard;

use super::queue::pieces::QUEUE;

/// Fences that clients claim to have seen are believed up to here, as the ledger does.
const MOST_FENCE_SEEN: u64 = 1 << 52;
/// Lua's numbers are exact up to here; a deadline beyond it is none.
const MOST_EXACT: u64 = 1 << 53;

/// Where the requests begin among the arguments.
pub(super) const FIRST_REQUEST: usize = 3;

/// Where every script begins: formats, and without the restart guard what goes on most of the time.
pub(super) const FORMS: &str = include_str!("lua/forms.lua");
/// What follows with the restart guard: whether it is over.
const OVER: &str = include_str!("lua/over.lua");
const LEAN: &str = include_str!("lua/lean.lua");
/// What follows, and what follows that with the restart guard.
const BEGIN: &str = include_str!("lua/begin.lua");
const GUARD: &str = include_str!("lua/guard.lua");
/// What follows the scripts of acquire and cancel where several names are acquired in one step.
const TOGETHER: &str = include_str!("lua/together.lua");
/// What follows the script of all operations where batches about several names share a call.
const BUNDLE: &str = include_str!("lua/bundle.lua");

/// One operation, or the step that knows them all.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Operation {
    Acquire,
    Renew,
    Release,
    Cancel,
    Evict,
    Configure,
    Inspect,
    Step,
    /// Not one of the ledger's: a guarded write.
    Write,
    /// Not one of the ledger's: what a list tells of many names.
    List,
    /// Acquires of several names; it is made of two others.
    Together,
    /// Requests of any kind about a queue.
    Queue,
    /// Batches about several names; it is made of the step.
    Bundle,
}

/// What the header of a script's own file says, too.
pub(super) struct ScriptHeader {
    #[cfg(test)]
    operation: Operation,
    pub(super) name: &'static str,
    pub(super) source: &'static str,
    #[cfg(test)]
    own: &'static str,
    #[cfg(test)]
    args: &'static str,
    #[cfg(test)]
    reply: &'static str,
}

/// What goes on all the time, before the general pieces.
macro_rules! plain {
    () => {
        concat!(
            include_str!("lua/plain.lua"),
            include_str!("lua/unfold.lua"),
            include_str!("lua/plain_read.lua"),
            include_str!("lua/plain_acquire.lua"),
            include_str!("lua/plain_release.lua"),
            include_str!("lua/plain_renew.lua"),
            include_str!("lua/plain_grant.lua"),
            include_str!("lua/plain_end.lua"),
        )
    };
}

/// What takes a lone value apart, as a function.
macro_rules! unfold {
    () => {
        concat!(
            "local function unfold(text)\n",
            include_str!("lua/unfold.lua"),
            "return lone_head, lone_field, lone_record\nend\n",
        )
    };
}

macro_rules! row {
    ($operation:ident, $name:literal, $args:literal, $reply:literal, [$($plain:tt)*], [$($part:literal),*]) => {
        ScriptHeader {
            #[cfg(test)]
            operation: Operation::$operation,
            name: $name,
            source: concat!(
                include_str!("lua/begin.lua"),
                $($plain)*
                unfold!(),
                include_str!("lua/pack.lua"),
                include_str!("lua/state.lua"),
                include_str!("lua/records.lua"),
                include_str!("lua/slots.lua"),
                include_str!("lua/settle.lua"),
                include_str!("lua/start.lua"),
                $(include_str!(concat!("lua/", $part, ".lua")),)*
                include_str!("lua/step.lua"),
            ),
            #[cfg(test)]
            own: include_str!(concat!("lua/", $name, ".lua")),
            #[cfg(test)]
            args: $args,
            #[cfg(test)]
            reply: $reply,
        }
    };
}

/// Every script, in the order of [`Operation`].
#[rustfmt::skip]
pub(super) const SCRIPTS: [ScriptHeader; 10] = [
    row!(Acquire, "acquire",
        "ticket kind permits limit enqueue priority lease ttl margin waiter_lease waiter_ttl not_after about",
        "granted queued busy other-kind other-limit too-many too-late ended", [plain!(),], ["acquire"]),
    row!(Renew, "renew", "lease ttl margin whom", "renewed differs gone tickets",
        [plain!(),], ["renew"]),
    row!(Release, "release", "ticket slots", "released ended unknown",
        [plain!(),], ["release"]),
    row!(Cancel, "cancel", "ticket remember attach", "cancelled", [], ["cancel"]),
    row!(Evict, "evict", "ticket", "evicted unknown", [], ["evict"]),
    row!(Configure, "configure", "what value", "configured other-kind", [], ["configure"]),
    row!(Inspect, "inspect", "rows", "snapshot", [], ["rows", "inspect"]),
    row!(Step, "step", "now inbox fence_seen request...", "done now backlog look_in, and one answer a request",
        [plain!(),], ["acquire", "renew", "attach", "release", "cancel", "evict", "configure", "rows", "inspect"]),
    ScriptHeader {
        #[cfg(test)]
        operation: Operation::Write,
        name: "write",
        source: concat!(include_str!("lua/begin.lua"), unfold!(), include_str!("lua/pack.lua"), include_str!("lua/write.lua")),
        #[cfg(test)]
        own: include_str!("lua/write.lua"),
        #[cfg(test)]
        args: "now inbox held not_after command...",
        #[cfg(test)]
        reply: "done partial refused lost late",
    },
    ScriptHeader {
        #[cfg(test)]
        operation: Operation::List,
        name: "list",
        source: concat!(
            include_str!("lua/begin.lua"),
            include_str!("lua/pack.lua"),
            include_str!("lua/rows.lua"),
            include_str!("lua/list.lua"),
        ),
        #[cfg(test)]
        own: include_str!("lua/list.lua"),
        #[cfg(test)]
        args: "now inbox fence_seen rows",
        #[cfg(test)]
        reply: "snapshot unused look",
    },
];

impl Operation {
    /// The script for a batch: the lean one if it has one request.
    pub(super) fn of(batch: &Batch) -> Self {
        match batch.requests.as_slice() {
            [request] => Self::of_request(request),
            _ => Self::Step,
        }
    }

    fn of_request(request: &Request) -> Self {
        match request {
            Request::Acquire(_) => Self::Acquire,
            Request::Renew(_) => Self::Renew,
            Request::Release { .. } => Self::Release,
            Request::Cancel { .. } => Self::Cancel,
            Request::Evict { .. } => Self::Evict,
            Request::Configure(_) => Self::Configure,
            Request::Inspect { .. } => Self::Inspect,
            _ => Self::Step,
        }
    }

    /// Whether its script takes packed requests.
    fn may_be_plain(self) -> bool {
        matches!(self, Self::Acquire | Self::Renew | Self::Release | Self::Step)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Together => "together",
            Self::Queue => "queue",
            Self::Bundle => "bundle",
            _ => SCRIPTS[self as usize].name,
        }
    }
}

/// How wakeups travel, which is the first piece of every script.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Wire {
    /// One server: one channel an inbox.
    Single,
    /// A cluster: a channel for each name at which an inbox listens, in the slot of the name.
    Sharded,
    /// A node of a cluster that is being given the slot: who listens is not known there yet.
    Moving,
}

impl Wire {
    fn piece(self) -> &'static str {
        match self {
            Self::Single => include_str!("lua/wire_single.lua"),
            Self::Sharded => include_str!("lua/wire_sharded.lua"),
            Self::Moving => include_str!("lua/wire_moving.lua"),
        }
    }
}

/// A change to every script's source, with which tests prove that they would notice.
#[derive(Clone, Debug)]
pub(super) struct Mutation {
    pub(super) from: String,
    pub(super) to: String,
}

/// Whether a script has this text.
pub(super) fn is_anywhere(text: &str) -> bool {
    let others = [FORMS, OVER, LEAN, GUARD, TOGETHER, BUNDLE, QUEUE].concat();
    others.contains(text) || SCRIPTS.iter().any(|row| row.source.contains(text))
}

/// The scripts of one store with their hashes, each worked out when first used.
#[derive(Debug)]
pub(super) struct Scripts {
    wire: Wire,
    hashed: [OnceLock<Script>; SCRIPTS.len() + 3],
    /// In microseconds.
    guard: Option<u64>,
    mutations: Vec<Mutation>,
}

impl Scripts {
    /// Those that expect the marker of a guard of this length as third key, or not.
    pub(super) fn new(wire: Wire, guard: Option<RestartGuard>, mutations: Vec<Mutation>) -> Self {
        let guard = guard.map(|guard| micros(guard.length()));
        Self { wire, guard, mutations, hashed: Default::default() }
    }

    /// The hash of a script, by which `EVALSHA` knows it.
    pub(super) fn hash(&self, operation: Operation) -> &str {
        let source = || Script::new(&self.source(operation));
        self.hashed[operation as usize].get_or_init(source).get_hash()
    }

    /// Its text, for `SCRIPT LOAD`.
    pub(super) fn source(&self, operation: Operation) -> String {
        if operation == Operation::Together {
            return self.together();
        }
        if operation == Operation::Bundle {
            let bundle = self.changed(BUNDLE.to_owned());
            return [self.function("batch", Operation::Step), bundle].concat();
        }
        if operation == Operation::Queue {
            return self.changed([self.wire.piece(), QUEUE].concat());
        }
        let (begin, rest) = SCRIPTS[operation as usize].source.split_at(BEGIN.len());
        let guard = self.guard.filter(|_| operation != Operation::Write);
        let (over, after) = guard.map_or(("", ""), |_| (OVER, GUARD));
        let lean = if operation.may_be_plain() { LEAN } else { "" };
        let pieces = [self.wire.piece(), FORMS, over, lean, begin, after, rest];
        let length = guard.unwrap_or_default().to_string();
        self.changed(pieces.concat()).replace("GUARD_LENGTH", &length)
    }

    fn changed(&self, source: String) -> String {
        #[cfg(feature = "planted")]
        let source = crate::planted::spoil(source);
        self.mutations
            .iter()
            .fold(source, |source, mutation| source.replacen(&mutation.from, &mutation.to, 1))
    }

    fn together(&self) -> String {
        let acquire = self.function("acquire", Operation::Acquire);
        [acquire, self.function("cancel", Operation::Cancel), TOGETHER.to_owned()].concat()
    }

    /// A script as a function of its keys and arguments.
    fn function(&self, name: &str, operation: Operation) -> String {
        format!("local function {name}(KEYS, ARGV)\n{}\nend\n", self.source(operation))
    }
}

/// The arguments of a batch: whose clock, who asks, what fence was seen, and a line for each request.
pub(super) fn arguments(batch: &Batch, now: Option<u64>) -> Vec<Vec<u8>> {
    let mut arguments = Vec::with_capacity(3 + batch.requests.len());
    arguments.push(now.map(|now| now.to_string().into_bytes()).unwrap_or_default());
    arguments.push(batch.inbox.map(|inbox| inbox.to_string().into_bytes()).unwrap_or_default());
    arguments.push(batch.fence_seen.min(MOST_FENCE_SEEN).to_string().into_bytes());
    arguments.extend(batch.requests.iter().map(|request| match request {
        Request::Acquire(acquire) => packed(acquire),
        request => line(request).into_bytes(),
    }));
    arguments
}

/// A batch of which nothing keeps the server from a straight path, as `PLAIN_*` in `lean.lua` say; else nothing.
pub(super) fn plain_arguments(batch: &Batch, now: Option<u64>) -> Option<Vec<Vec<u8>>> {
    let mut clocks = now.map_or((-1.0_f64).to_le_bytes(), double).to_vec();
    clocks.extend(double(batch.fence_seen.min(MOST_FENCE_SEEN)));
    clocks.extend(batch.inbox?.to_string().bytes());
    let argument = |request| {
        let (operation, rest) = plain_body(request)?;
        Some([&[operation], &*clocks, &*rest].concat())
    };
    let arguments = batch.requests.iter().map(argument).collect::<Option<Vec<_>>>()?;
    (!arguments.is_empty()).then_some(arguments)
}

/// Which operation it is, and what follows the inbox.
fn plain_body(request: &Request) -> Option<(u8, Vec<u8>)> {
    match request {
        Request::Acquire(acquire) => Some((1, plain_acquire(acquire)?)),
        Request::Release { ticket, slots: None } => {
            Some((2, [plain_ticket(*ticket), line(request).into_bytes()].concat()))
        }
        Request::Renew(Renew { lease, ttl, margin, whom: Whom::All { members, digest } }) => {
            let lease = lease.to_string();
            let mut body = lease.strip_suffix("00000000")?.as_bytes().to_vec();
            for number in [*ttl, *margin, u64::from(*members), *digest] {
                body.extend(double(number));
            }
            body.extend(line(request).bytes());
            Some((3, body))
        }
        _ => None,
    }
}

fn plain_acquire(acquire: &Acquire) -> Option<Vec<u8>> {
    let is_own = acquire.lease == acquire.ticket.series().ticket(0).into();
    let (_, limit) = rule_and_limit(acquire.limit);
    let mut body = plain_ticket(acquire.ticket);
    body.extend(acquire.permits.get().to_le_bytes());
    body.extend(limit.to_le_bytes());
    body.extend(acquire.kind.letter().to_string().bytes());
    for time in [acquire.ttl, acquire.margin, acquire.not_after.unwrap_or(MOST_EXACT)] {
        body.extend(double(time));
    }
    body.extend(packed(acquire));
    is_own.then_some(body)
}

/// Series, number and digest.
fn plain_ticket(ticket: Ticket) -> Vec<u8> {
    let mut text = ticket.to_string().into_bytes();
    text.truncate(24);
    text.extend(ticket.number().to_le_bytes());
    text.extend(double(ticket.digest()));
    text
}

/// An acquire as `ASK` in `forms.lua` says: reading words out of a line is a third of what it costs a server.
fn packed(acquire: &Acquire) -> Vec<u8> {
    let (rule, limit) = rule_and_limit(acquire.limit);
    let is_own = acquire.lease == acquire.ticket.series().ticket(0).into();
    let mut packed = format!("acquire:{}", acquire.ticket).into_bytes();
    packed.extend(acquire.ticket.number().to_le_bytes());
    packed.push(u8::from(is_own));
    packed.extend(acquire.kind.letter().to_string().bytes());
    packed.extend(acquire.permits.get().to_le_bytes());
    packed.push(rule);
    packed.extend(limit.to_le_bytes());
    for time in [acquire.ttl, acquire.margin, acquire.not_after.unwrap_or(MOST_EXACT)] {
        packed.extend(double(time));
    }
    packed.extend(match acquire.enqueue {
        Enqueue::No => (-1.0_f64).to_le_bytes(),
        Enqueue::Yes { max_waiting: None } => double(MOST_EXACT),
        Enqueue::Yes { max_waiting: Some(most) } => double(most.into()),
    });
    packed.extend(i32::from(acquire.priority.get()).to_le_bytes());
    packed.extend(double(acquire.waiter_ttl));
    packed.extend(format!("{}{}", acquire.lease, acquire.waiter_lease).bytes());
    packed.extend(acquire.about.bytes());
    packed
}

/// As Lua has numbers; what it has not exactly is out of every range.
#[allow(clippy::cast_precision_loss, reason = "it is exact up to the bound")]
pub(super) fn double(number: u64) -> [u8; 8] {
    (number.min(MOST_EXACT) as f64).to_le_bytes()
}

fn rule_and_limit(rule: Option<LimitRule>) -> (u8, u32) {
    let Some(LimitRule { limit, on_mismatch }) = rule else { return (b'-', 1) };
    let letter = match on_mismatch {
        OnMismatch::Refuse => b'R',
        OnMismatch::Adopt => b'A',
        OnMismatch::Set => b'S',
        OnMismatch::Exact => b'E',
    };
    (letter, limit.get())
}

pub(super) fn line(request: &Request) -> String {
    match request {
        Request::Acquire(acquire) => acquire_line(acquire),
        Request::Renew(renew) => renew_line(renew),
        Request::Release { ticket, slots: None } => format!("release {ticket} all"),
        // A comma, so that no slots at all are still an argument.
        Request::Release { ticket, slots: Some(slots) } => format!("release {ticket} {slots},"),
        Request::Attach(attach) => format!("attach {}", attach_words(attach)),
        Request::Detach { ticket, ttl, margin } => {
            format!("detach {ticket} {ttl} {}", (*margin).min(MOST_EXACT))
        }
        Request::Cancel { ticket, remember, attach } => {
            let attach = attach.map_or_else(|| "-".to_owned(), |lease| lease.to_string());
            format!("cancel {ticket} {remember} {attach}")
        }
        Request::Evict { ticket } => format!("evict {ticket}"),
        Request::Configure(Configure::Limit(limit)) => format!("configure limit {limit}"),
        Request::Configure(Configure::Unpin) => "configure unpin ".to_owned(),
        Request::Configure(Configure::Pause(reason)) => format!("configure pause {reason}"),
        Request::Configure(Configure::Resume) => "configure resume ".to_owned(),
        Request::Inspect { rows } => format!("inspect {rows}"),
        // The script refuses it, and says so, should the ledger ever know more than we do.
        _ => "unknown ".to_owned(),
    }
}

pub(super) fn acquire_line(acquire: &Acquire) -> String {
    let Acquire { ticket, permits, lease, ttl, waiter_lease, waiter_ttl, about, .. } = acquire;
    let (limit, enqueue) = (limit_word(acquire.limit), enqueue_word(acquire.enqueue));
    let kind = acquire.kind.letter();
    let (priority, margin) = (acquire.priority.get(), acquire.margin.min(MOST_EXACT));
    let not_after = deadline_word(acquire.not_after);
    format!(
        "acquire {ticket} {kind} {permits} {limit} {enqueue} {priority} {lease} {ttl} {margin} \
         {waiter_lease} {waiter_ttl} {not_after} {about}"
    )
}

/// An attach without the word that begins its line.
pub(super) fn attach_words(attach: &Attach) -> String {
    let Attach { ticket, lease, ttl, about, .. } = attach;
    let (margin, not_after) = (attach.margin.min(MOST_EXACT), deadline_word(attach.not_after));
    format!("{ticket} {lease} {ttl} {margin} {not_after} {about}")
}

fn deadline_word(not_after: Option<Micros>) -> String {
    not_after.map_or_else(|| "-".to_owned(), |at| at.min(MOST_EXACT).to_string())
}

fn limit_word(rule: Option<LimitRule>) -> String {
    let Some(LimitRule { limit, on_mismatch }) = rule else { return "-".into() };
    match on_mismatch {
        OnMismatch::Refuse => format!("R{limit}"),
        OnMismatch::Adopt => format!("A{limit}"),
        OnMismatch::Set => format!("S{limit}"),
        OnMismatch::Exact => format!("E{limit}"),
    }
}

fn enqueue_word(enqueue: Enqueue) -> String {
    match enqueue {
        Enqueue::No => "no".into(),
        Enqueue::Yes { max_waiting: None } => "yes".into(),
        Enqueue::Yes { max_waiting: Some(most) } => most.to_string(),
    }
}

fn renew_line(renew: &Renew) -> String {
    let Renew { lease, ttl, whom, .. } = renew;
    let mut line = format!("renew {lease} {ttl} {} ", renew.margin.min(MOST_EXACT));
    match whom {
        Whom::All { members, digest } => line.push_str(&format!("all {members} {digest}")),
        Whom::Tickets(tickets) => {
            line.push_str("tickets");
            for ticket in tickets {
                // Writing to a String cannot fail.
                let _ = write!(line, " {ticket}");
            }
        }
    }
    line
}

#[cfg(test)]
mod tests;
