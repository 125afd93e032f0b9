//! Mistakes that are planted in the scripts' handling of slot names, and the histories that have to
//! find them.

use super::{
    bench::Bench,
    hidden::{is_found, some_drawn_then_made},
    histories,
    history::{LARGE, SMALL, history},
    mistakes::FEW_ARE_MANY,
};

/// Each mistake in `named.lua`: the text and its replacement.
const MISTAKES: &[(&str, &str)] = &[
    ("if range[2] >= #names then return slots end", ""),
    ("if #wishes > want.permits then", "if #wishes > want.permits + 1 then"),
    ("if last and last[2] + 1 == slot then\n      last[2] = slot\n    else", "do"),
    ("if range[1] < slot then below[i]", "if range[1] + 1 < slot then below[i]"),
    ("if other[1] ~= range[1] then kept", "if true then kept"),
    (
        "  if highest >= head.top then\n    ledger.push",
        "  if highest > head.top then\n    ledger.push",
    ),
    ("    ledger.push_free_slots(head.top, highest)\n", ""),
    ("for _, left in ipairs(rest) do ledger.push_free_slots(left[1], left[2]) end", ""),
    ("  ranges[#ranges + 1] = { head.top, most - 1 }\n", ""),
    ("permits = max(ledger.limit_now() - head.held, 0)", "permits = max(ledger.limit_now(), 0)"),
    ("    for _, slot in ipairs(wishes) do ledger.take_of(room, slot) end\n", ""),
    ("if permits > room.permits or permits > room.count then", "if permits > room.count then"),
    ("  room.permits = room.permits - permits\n", ""),
    ("  if not ledger.admits() then return nil end\n", ""),
    (
        "ledger.wishes_in(waiter)) == 'stops' then\n      return nil",
        "ledger.wishes_in(waiter)) == 'waits' then return nil",
    ),
    ("waiter.permits > ledger.limit_now() and 'end'\n      or waiter.inbox", "waiter.inbox"),
    ("not ledger.is_listening(waiter.inbox) and 'park'", "false"),
    ("if what == 'stops' or (what == 'takes'", "if what == 'waits' or (what == 'takes'"),
    ("if head.holders + head.waiting == 0 or not head.names then", "if not head.names then"),
    ("if head.holders + head.waiting == 0 or not head.names then", "if true then"),
    (
        "sub(names .. ',', 1, #head.names + 1) == head.names .. ','",
        "sub(names, 1, #head.names) == head.names",
    ),
];

/// Mistakes that show where the free slots stand in the order.
const MISTAKES_AMONG_MANY: &[(&str, &str)] = &[
    ("'(f' .. pack('>I8', slot)", "'(f' .. pack('>I8', slot - 1)"),
    (
        "    ledger.placed[pack(FREE, 'f', range[1], range[2])] = false\n    return\n",
        "    return\n",
    ),
];

#[tokio::test]
#[ignore = "mutates the scripts, which takes minutes: nightly runs it"]
async fn a_mistake_in_the_names_of_slots_does_not_stay_hidden() {
    let all = MISTAKES.iter().map(|mistake| (mistake, None));
    let all = all.chain(MISTAKES_AMONG_MANY.iter().map(|mistake| (mistake, Some(FEW_ARE_MANY))));
    let mut unnoticed = Vec::new();
    for (&mistake, changes) in all {
        if !find([Some(mistake), changes]).await {
            unnoticed.push(format!("{:?} in place of {:?}", mistake.1, mistake.0));
        }
    }
    assert!(unnoticed.is_empty(), "these go unnoticed: {unnoticed:#?}");
}

async fn find(changes: [Option<(&'static str, &'static str)>; 2]) -> bool {
    let mut bench = Bench::new(changes.into_iter().flatten()).await;
    let large = (0..histories() / 8).map(|seed| history(seed, LARGE));
    is_found(&mut bench, some_drawn_then_made(|seed| history(seed, SMALL)).chain(large)).await
}
