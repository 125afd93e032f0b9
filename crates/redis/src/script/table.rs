//! The scripts of names, each with the pieces of which it is made.

#[cfg(test)]
use super::ScriptKind;

/// A script with its pieces, and the fields in the header of its own file.
pub(crate) struct ScriptHeader {
    #[cfg(test)]
    pub(crate) operation: ScriptKind,
    pub(crate) name: &'static str,
    pub(crate) source: &'static str,
    #[cfg(test)]
    pub(crate) own: &'static str,
    #[cfg(test)]
    pub(crate) args: &'static str,
    #[cfg(test)]
    pub(crate) reply: &'static str,
}

/// The plain path, which stands before the general pieces.
macro_rules! plain {
    () => {
        concat!(
            include_str!("../lua/plain.lua"),
            include_str!("../lua/unfold.lua"),
            include_str!("../lua/plain_read.lua"),
            include_str!("../lua/plain_acquire.lua"),
            include_str!("../lua/plain_release.lua"),
            include_str!("../lua/plain_renew.lua"),
            include_str!("../lua/plain_grant.lua"),
            include_str!("../lua/plain_end.lua"),
            include_str!("../lua/plain_fold.lua"),
        )
    };
}

/// Two pieces: one takes a lone value apart, as a function, and one takes a line apart.
macro_rules! unfold {
    () => {
        concat!(
            "local function unfold(text)\n",
            include_str!("../lua/unfold.lua"),
            "return lone_head, lone_field, lone_record\nend\n",
            include_str!("../lua/unfold_line.lua"),
        )
    };
}

/// The ledger without its operations.
macro_rules! ledger {
    () => {
        concat!(
            include_str!("../lua/pack.lua"),
            include_str!("../lua/state.lua"),
            include_str!("../lua/send.lua"),
            include_str!("../lua/flush.lua"),
            include_str!("../lua/records.lua"),
            include_str!("../lua/slots.lua"),
            include_str!("../lua/listening.lua"),
            include_str!("../lua/settle.lua"),
            include_str!("../lua/named.lua"),
            include_str!("../lua/start.lua"),
        )
    };
}

macro_rules! row {
    ($operation:ident, $name:literal, $args:literal, $reply:literal, [$($plain:tt)*], [$($part:literal),*]) => {
        ScriptHeader {
            #[cfg(test)]
            operation: ScriptKind::$operation,
            name: $name,
            source: concat!(
                include_str!("../lua/begin.lua"),
                $($plain)*
                unfold!(),
                ledger!(),
                $(include_str!(concat!("../lua/", $part, ".lua")),)*
                include_str!("../lua/refusal.lua"),
                include_str!("../lua/step.lua"),
            ),
            #[cfg(test)]
            own: include_str!(concat!("../lua/", $name, ".lua")),
            #[cfg(test)]
            args: $args,
            #[cfg(test)]
            reply: $reply,
        }
    };
}

/// Every script that is made of pieces, in the order of [`ScriptKind`]. The three last kinds have
/// no row.
#[rustfmt::skip]
pub(crate) const SCRIPTS: [ScriptHeader; 10] = [
    row!(Acquire, "acquire",
        "ticket kind permits limit enqueue priority lease ttl margin waiter_lease waiter_ttl not_after about",
        "granted queued busy other-kind other-limit too-many too-late ended", [plain!(),], ["acquire"]),
    row!(Renew, "renew", "lease ttl margin whom", "renewed differs gone tickets",
        [plain!(),], ["renew"]),
    row!(Release, "release", "ticket slots", "released ended unknown",
        [plain!(),], ["release"]),
    row!(Cancel, "cancel", "ticket remember attach", "cancelled", [], ["cancel"]),
    row!(Evict, "evict", "ticket", "evicted unknown", [], ["evict"]),
    row!(Configure, "configure", "what value", "configured other-kind slots-in-use", [], ["configure"]),
    row!(Inspect, "inspect", "rows", "snapshot", [], ["rows", "inspect"]),
    row!(Step, "step", "now inbox fence_seen request...", "done now backlog look_in, and one answer a request",
        [plain!(),], ["acquire", "renew", "attach", "release", "cancel", "evict", "configure", "rows", "inspect"]),
    ScriptHeader {
        #[cfg(test)]
        operation: ScriptKind::Write,
        name: "write",
        source: concat!(include_str!("../lua/begin.lua"), unfold!(), include_str!("../lua/pack.lua"), include_str!("../lua/write.lua")),
        #[cfg(test)]
        own: include_str!("../lua/write.lua"),
        #[cfg(test)]
        args: "now inbox held not_after command...",
        #[cfg(test)]
        reply: "done partial refused lost late",
    },
    ScriptHeader {
        #[cfg(test)]
        operation: ScriptKind::List,
        name: "list",
        source: concat!(
            include_str!("../lua/begin.lua"),
            include_str!("../lua/unfold_line.lua"),
            include_str!("../lua/pack.lua"),
            include_str!("../lua/rows.lua"),
            include_str!("../lua/list.lua"),
        ),
        #[cfg(test)]
        own: include_str!("../lua/list.lua"),
        #[cfg(test)]
        args: "now inbox fence_seen rows",
        #[cfg(test)]
        reply: "snapshot unused look",
    },
];
