//! Prints random histories of queues, executed by the Rust ledger: requests in the packed form, the answers and
//! notifications that are right, and the state after each call. See ../../../replay_queues.py.
use seinpaal_proto::{Fence, Inbox, Limit, Name, Priority, queue::*};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use trace::*;
struct Client { inbox: u128, number: u64, until: u64, last: Option<Batch>, ttl: u64, held: Vec<Delivery> }
fn be(b: &mut Vec<u8>, v: u64) { b.extend(v.to_be_bytes()) }
fn delivery(b: &mut Vec<u8>, d: &Delivery) { be(b, d.id.0); be(b, d.fence.0) }
fn limit(l: Option<u32>) -> u32 { l.unwrap_or(u32::MAX) }
fn request(r: &Request, payloads: &mut Vec<String>) -> Vec<u8> {
    let mut b = vec![];
    let op = match r {
        Request::Push(p) => {
            let (group, (key, window)) = (p.group.as_deref().unwrap_or(""), p.dedup.as_ref().map_or(("", 0), |d| (&*d.key, d.window)));
            let (how, due) = match p.due { Due::Now => (0, 0), Due::In(d) => (1, d), Due::At(d) => (2, d) };
            b.push(p.priority.get() as u8); u(&mut b, p.most); b.push(how + 4 * u8::from(!group.is_empty()) + 8 * u8::from(!key.is_empty())); f(&mut b, due); f(&mut b, window);
            for s in [group, key] { b.extend((s.len() as u16).to_le_bytes()) }
            for s in [group, key, &p.about] { b.extend(s.as_bytes()) }
            payloads.push(format!("={}", hex(&p.payload))); 1
        }
        Request::Pop(p) => { b.push(p.items as u8); f(&mut b, p.ttl); f(&mut b, p.margin); b.push(u8::from(p.wait) + 2 * u8::from(p.drains)); b.extend(p.about.as_bytes()); 2 }
        Request::Finish { delivery: d, how } => { delivery(&mut b, d); match how { How::Acknowledge => 3, How::GiveBack { delay } => { f(&mut b, *delay); 4 } How::Fail { delay, reason } => { f(&mut b, *delay); b.extend(reason.as_str().as_bytes()); 5 } } }
        Request::Renew(r) => { f(&mut b, r.ttl); f(&mut b, r.margin); r.deliveries.iter().for_each(|d| delivery(&mut b, d)); 6 }
        Request::Leave => 7,
        Request::Cancel { id, spares_work } => { be(&mut b, id.0); b.push(u8::from(*spares_work)); 8 }
        Request::Replay { id } => { be(&mut b, id.0); 9 }
        Request::Drop { id } => { be(&mut b, id.0); 10 }
        Request::Purge(what) => { b.push(if *what == Purge::Dead { b'x' } else { b'w' }); 11 }
        Request::Configure(c) => { match c { Configure::Limit(l) => { b.push(b'l'); u(&mut b, limit(l.map(|l| l.get()))) } Configure::GroupLimit(l) => { b.push(b'g'); u(&mut b, limit(l.map(|l| l.get()))) } Configure::Pause(why) => { b.push(b'p'); b.extend(why.as_bytes()) } Configure::Resume => b.push(b'r') } 12 }
        Request::Inspect { .. } => { b.extend(1000_u16.to_le_bytes()); 13 }
        Request::List { after, .. } => { b.extend(1000_u16.to_le_bytes()); b.push(match after.state() { ItemState::Ready => b'g', ItemState::Delayed => b'd', ItemState::InWork => b'e', _ => b'x' }); 14 }
    };
    let mut out = vec![op]; out.extend((b.len() as u16).to_le_bytes()); out.extend(b); out
}
/// A row of a job in the form that replay_queues.py also makes of the packed one.
fn row(state: &str, id: ItemId, attempt: u32, most: u32, group: &Option<Name>, rest: String) -> String { format!("{} {state} {attempt} {most} {} {rest}", id.0, group.as_deref().unwrap_or("")) }
fn past(h: &DeliveryHistory) -> String { h.ends().iter().map(|p| format!("{}/{}/{}", p.attempt, p.at, match &p.ending { Ending::Failed(r) => format!("1/{}", r.as_str()), _ => "0/".into() })).collect::<Vec<_>>().join("+") }
fn work_row(w: &WorkRow) -> String { row("a", w.id, w.attempt, 0, &w.group, format!("{} {:032x} {} {} {}", w.fence.0, w.by.0, w.about, w.worked, w.valid_for.unwrap())) }
fn job_row(r: &ItemRow) -> String {
    let (state, at, work) = match &r.state { RowState::Ready => ("r", 0, String::new()), RowState::Delayed { due } => ("d", *due, String::new()), RowState::Dead { at } => ("x", *at, String::new()),
        RowState::InWork { fence, by, about, worked, valid_for } => ("a", 0, format!("{} {:032x} {about} {worked} {}", fence.0, by.0, valid_for.unwrap())) };
    row(state, r.id, r.attempt, r.most, &r.group, format!("{} {} {} {} {at} {} {} {work}", r.priority.get(), r.about, r.pushed, r.bytes, past(&r.history), hex(&r.payload)))
}
fn reply(r: &Reply, payloads: &mut Vec<String>, kept: bool) -> Vec<u8> {
    let mut b = vec![];
    match r {
        Reply::Pushed { id } => { b.push(1); be(&mut b, id.0) }
        Reply::Duplicate { id } => { b.push(2); be(&mut b, id.0) }
        Reply::Popped { items, .. } if kept => { b.extend([3, items.len() as u8]); items.iter().for_each(|i| delivery(&mut b, &i.delivery)) }
        Reply::Popped { items, valid_for, left } => {
            b.push(3); f(&mut b, valid_for.unwrap()); f(&mut b, *left); b.push(items.len() as u8);
            for i in items {
                delivery(&mut b, &i.delivery); u(&mut b, i.attempt); u(&mut b, i.most); b.push(i.priority.get() as u8); f(&mut b, i.pushed);
                let group = i.group.as_deref().unwrap_or("");
                for s in [group, &i.about] { b.extend((s.len() as u16).to_le_bytes()) }
                for s in [group, &i.about] { b.extend(s.as_bytes()) }
                payloads.push(format!("={}", hex(&i.payload)));
            }
        }
        Reply::Renewed { valid_for, lost } => { b.push(4); f(&mut b, valid_for.unwrap()); b.extend((lost.len() as u16).to_le_bytes()); lost.iter().for_each(|d| delivery(&mut b, d)) }
        Reply::Acknowledged { .. } => b.push(5),
        Reply::Returned { .. } => b.push(6),
        Reply::Died { .. } => b.push(7),
        Reply::Lost { .. } => b.push(8),
        Reply::Left => b.push(9),
        Reply::Cancelled { was, .. } => b.extend([10, match was { ItemState::Ready => b'r', ItemState::Delayed => b'd', _ => b'a' }]),
        Reply::Unknown { .. } => b.push(11),
        Reply::Replayed { .. } => b.push(12),
        Reply::Dropped { .. } => b.push(13),
        Reply::Purged { removed, more } => { b.push(14); u(&mut b, *removed); b.push(u8::from(*more)) }
        Reply::Configured { limit: l, group_limit } => { b.push(15); u(&mut b, limit(*l)); u(&mut b, limit(*group_limit)) }
        Reply::Snapshot(s) => {
            let o = |x: Option<u64>| x.map_or(-1, |x| x as i64);
            let (mut work, groups): (Vec<_>, Vec<_>) = (s.work.iter().map(work_row).collect(), s.groups.iter().map(|g| format!("{} {} {}", g.group, g.in_work, g.ready)).collect());
            work.sort();
            b.push(16);
            b.extend(format!("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}\n{}\n{}", limit(s.limit), limit(s.group_limit), s.paused.as_ref().map_or("-".into(), |p| format!("={p}")), s.ready, s.delayed, s.in_work, s.dead, s.idle, o(s.oldest), o(s.next_due), work.join(";"), groups.join(";")).bytes());
        }
        Reply::Items { rows, .. } => { let is_work = rows.iter().any(|r| matches!(r.state, RowState::InWork { .. })); let mut rows: Vec<_> = rows.iter().map(job_row).collect(); if is_work { rows.sort() } b.push(17); b.extend(rows.join(";").bytes()) }
        Reply::Late => b.push(18),
    }
    b
}
fn wakeup(w: &Wakeup) -> String {
    let mut b = vec![];
    match w.what { What::Called => { b.extend([0; 16]); b.push(b'c') } What::Watch { look_in } => { b.extend([0; 16]); b.push(b'w'); f(&mut b, look_in) } What::Lost(d) => { delivery(&mut b, &d); b.push(b'l') } }
    format!("{:032x}:{}", w.inbox.0, hex(&b))
}
fn all_items(state: &mut MemoryQueue) -> Vec<Item> {
    let mut all = BTreeMap::new();
    for after in ItemState::ALL.map(ItemPosition::before).into_iter().chain([ItemPosition::before_open()]) { for item in state.items_after(&after, u32::MAX).unwrap() { all.insert(item.id, item); } }
    all.into_values().collect()
}
/// The state in a form that replay_queues.py also makes of the stored one.
fn dump(state: &mut MemoryQueue, clients: &[Client], keys: &BTreeSet<Name>) -> String {
    if state.is_empty() { return String::new() }
    let h = state.head().unwrap();
    let mut s = format!("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{:032x}|{}|{}", limit(h.limit), limit(h.group_limit), h.paused.as_ref().map_or("-".into(), |p| format!("={p}")), h.clock, h.wall, h.bound, h.last, h.ready, h.open, h.delayed, h.in_work, h.dead, h.idle, h.called, h.wanted, h.sessions, h.keys, h.watch.map_or(0, |i| i.0), h.watch.map_or(0, |_| h.watch_at), h.reopen.as_ref().map_or("-".into(), |r| format!("={r}")));
    for i in all_items(state) {
        let (attempt, standing) = match &i.standing { Standing::Ready { open } => (i.attempt, format!("r {}", u8::from(*open))), Standing::Delayed { due } => (i.attempt, format!("d {due}")), Standing::Dead { at } => (i.attempt, format!("x {at}")),
            Standing::InWork(w) => (i.attempt - 1, format!("a {} {:032x} {} {} {} {} {}", w.fence.0, w.by.0, w.about, w.since, w.ttl, w.ends, w.ends_wall)) };
        let payload = hex(&state.payload(i.id).unwrap());
        let _ = write!(s, ";J {} {} {} {} {} {} {} {} {} {} {} {payload} {standing}", i.id.0, i.priority.get(), i.group.as_deref().unwrap_or(""), i.most, i.bytes, i.key.as_deref().unwrap_or(""), i.about, i.pushed, i.rank, attempt, past(&i.history).replace(' ', "_"));
    }
    for (name, g) in state.groups(u32::MAX).unwrap() { let _ = write!(s, ";G {name} {} {} {}", g.in_work, g.ready, g.front.map_or(0, |f| f.0)); }
    let mut inboxes: Vec<_> = clients.iter().map(|c| c.inbox).collect(); inboxes.sort();
    for i in &inboxes { if let Some(p) = state.place(Inbox(*i)).unwrap() { let _ = write!(s, ";P {i:032x} {} {} {} {}", p.want, u8::from(p.drains), p.until, match p.call { WorkerCall::InLine => "-".into(), WorkerCall::Since(at) => at.to_string() }); } }
    for i in &inboxes { if let Some(r) = state.session(Inbox(*i)).unwrap() { let kept: String = r.replies.iter().map(|r| hex(&reply(r, &mut vec![], true))).collect(); let _ = write!(s, ";S {i:032x} {} {} {kept}", r.number, r.until); } }
    for k in keys { if let Some(d) = state.key(k).unwrap() { let _ = write!(s, ";K {k} {} {}", d.id.0, d.until); } }
    s
}
fn main() {
    let args: Vec<u64> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    for seed in args[0]..args[1] {
        let mut r = Rng(seed.wrapping_mul(7919) ^ 0x5eed);
        // What the history is about: 0 everything, 1 a busy queue, 2 crowded groups, 3 many workers, 4 delays, 5 leases
        // that run out, 6 many jobs, 7 operators.
        let kind = seed % 8;
        let n = 1 + r.below(if kind == 3 { 60 } else if kind == 6 { 3 } else { 5 });
        let mut clients: Vec<Client> = (0..n).map(|_| Client { inbox: u128::from(r.next()) << 64 | u128::from(r.next()), number: 0, until: 0, last: None, ttl: r.of(if kind == 5 { &[100_000, 1_000_000, 3_000_000] } else { &[30_000_000, 30_000_000, 5_000_000] }), held: vec![] }).collect();
        let mut ears: BTreeMap<u128, bool> = clients.iter().map(|c| (c.inbox, true)).collect();
        let (name, groups) = (Name::new(&format!("c{seed}")).unwrap(), if kind == 2 { 1 + r.below(40) } else { 3 });
        let groups: Vec<Name> = (0..groups).map(|i| Name::new(&["g", "g0", "a b", "z", "é"].get(i as usize).map_or(format!("g{i}"), |s| (*s).into())).unwrap()).collect();
        let grouped = match kind { 2 => 1, 1 | 6 => 20, _ => 3 };
        let key_names: Vec<Name> = (0..4).map(|i| Name::new(&format!("k{i}")).unwrap()).collect();
        let keys: BTreeSet<Name> = key_names.iter().cloned().collect();
        let mut state = MemoryQueue::default();
        let mut now: u64 = 1_700_000_000_000_000;
        println!("case {seed} {}", clients.iter().map(|c| format!("{:032x}", c.inbox)).collect::<Vec<_>>().join(","));
        for _ in 0..args[2] {
            let items = all_items(&mut state);
            let calm = kind == 1 || kind == 6;
            now = match r.below(if calm { 60 } else { 20 }) { 0 => now - r.below(3_000_000), 1 => now + r.below(40_000_000), 2 | 3 => now + r.below(6_000_000), 4 => {
                let mut ends: Vec<u64> = items.iter().flat_map(|i| match &i.standing { Standing::InWork(w) => vec![w.ends, w.ends_wall], Standing::Delayed { due } => vec![*due], _ => vec![] }).collect();
                let h = state.head().unwrap(); ends.extend([h.last, h.watch_at, h.watch_at + 1_000_000]); ends.extend(clients.iter().map(|c| c.until));
                for c in &clients { if let Some(p) = state.place(Inbox(c.inbox)).unwrap() { ends.push(p.until); if let WorkerCall::Since(at) = p.call { ends.push(at + 1_000_000) } } }
                for k in &keys { if let Some(d) = state.key(k).unwrap() { ends.push(d.until) } }
                let e = r.of(&ends); (e + r.below(3)).saturating_sub(1).max(now + 1).min(now + 100_000_000) }
                5 => now, 6 if kind == 3 => now + r.below(200_000_000), _ => now + r.below(200_000) };
            if r.one_in(12) { let i = r.below(n) as usize; let e = ears.get_mut(&clients[i].inbox).unwrap(); *e = !*e }
            let heard: String = clients.iter().map(|c| if ears[&c.inbox] { '1' } else { '0' }).collect();
            let who = r.below(n) as usize;
            let seen = if r.one_in(40) { now + r.below(2_000_000) } else { 0 };
            let any_id = |r: &mut Rng| if items.is_empty() || r.one_in(10) { ItemId(now) } else { items[r.below(items.len() as u64) as usize].id };
            let mut requests = vec![];
            for _ in 0..r.of(&[0, 1, 1, 1, 1, 1, 2, 3, if kind == 6 { 60 } else { 5 }]) {
                let other = if r.one_in(20) { r.below(n) as usize } else { who };
                let mine = clients[who].held.clone();
                let my_ttl = clients[who].ttl;
                let mut any_delivery = |r: &mut Rng| { let h = &mut clients[other].held; if h.is_empty() || r.one_in(20) { Delivery { id: ItemId(now), fence: Fence(7) } } else { let i = r.below(h.len() as u64) as usize; if r.one_in(6) { h[i] } else { h.swap_remove(i) } } };
                let what = if requests.len() < 2 && matches!(kind, 0 | 7) && r.one_in(if kind == 7 { 2 } else { 12 }) { 80 + r.below(20) } else if r.one_in(30) { 80 + r.below(20) } else { r.below(80) };
                let delay = match r.below(6) { 0 => r.below(60_000_000), 1 if kind == 4 => r.below(3_000_000), _ => 0 };
                requests.push(match what {
                    0..=29 => {
                        let due = match r.below(if kind == 4 { 4 } else { 12 }) { 0 => Due::In(r.below(20_000_000)), 1 => Due::At((now + r.below(20_000_000)).saturating_sub(1_000_000)), _ => Due::Now };
                        let dedup = r.one_in(if kind == 4 || kind == 0 { 4 } else { 15 }).then(|| Dedup { key: key_names[r.below(4) as usize].clone(), window: r.of(&[0, 1_000_000, 20_000_000]) });
                        Request::Push(Push { payload: vec![b'x'; r.below(30) as usize], priority: Priority::new(if r.one_in(5) { r.below(201) as i32 - 100 } else { 0 }).unwrap(), due, group: r.one_in(grouped).then(|| groups[r.below(groups.len() as u64) as usize].clone()), dedup, most: r.of(&[1, 1, 2, 3, 12]), about: r.of(&["", "who=me"]).into() })
                    }
                    30..=49 => Request::Pop(Pop { items: r.of(&[1, 1, 1, 2, 5, 64]), ttl: my_ttl, margin: my_ttl / 4, wait: r.one_in(2), drains: r.one_in(4), about: format!("worker{who}") }),
                    50..=62 => Request::Finish { delivery: any_delivery(&mut r), how: How::Acknowledge },
                    63..=66 => Request::Finish { delivery: any_delivery(&mut r), how: How::GiveBack { delay } },
                    67..=71 => Request::Finish { delivery: any_delivery(&mut r), how: How::Fail { delay, reason: FailureReason::new(r.of(&["", "no route to host"])) } },
                    72..=76 => { let mut deliveries: Vec<_> = mine.iter().copied().filter(|_| r.below(4) > 0).collect(); deliveries.truncate(500); if r.one_in(4) { deliveries.push(any_delivery(&mut r)) } Request::Renew(Renew { ttl: r.of(&[30_000_000, 5_000_000, 1_000_000]), margin: 1_000_000, deliveries }) }
                    77..=79 => Request::Leave,
                    80..=84 => Request::Cancel { id: any_id(&mut r), spares_work: r.one_in(3) },
                    85 | 86 => Request::Replay { id: any_id(&mut r) },
                    87 => Request::Drop { id: any_id(&mut r) },
                    88 => Request::Purge(if r.one_in(2) { Purge::Dead } else { Purge::Waiting }),
                    89..=99 => Request::Configure(match r.below(8) { 0 => Configure::Limit(Some(Limit::new(r.below(6) as u32).unwrap())), 1 | 2 => Configure::Limit(None), 3 => Configure::GroupLimit(None), 4 => Configure::GroupLimit(Some(Limit::new(r.below(4) as u32).unwrap())), 5 => Configure::Pause("why".into()), _ => Configure::Resume }),
                    _ => unreachable!(),
                });
                if matches!(requests.last(), Some(Request::Pop(_))) && requests.iter().map(|r| if let Request::Pop(p) = r { p.items } else { 0 }).sum::<u32>() + state.head().unwrap().in_work > 64 { requests.pop(); }
            }
            if kind == 2 && r.one_in(12) { requests = vec![Request::Configure(Configure::GroupLimit(if r.one_in(5) { None } else { Some(Limit::new(r.below(4) as u32).unwrap()) }))] }
            if r.one_in(15) { requests = vec![if r.one_in(2) { Request::Inspect { rows: 100_000 } } else { Request::List { after: ItemPosition::before(r.of(&ItemState::ALL)), rows: 1000 } }] }
            let c = &mut clients[who];
            let reads = requests.iter().all(Request::reads);
            let mut batch = Batch { name: name.clone(), session: Inbox(c.inbox), number: 0, not_after: now + r.of(&[10_000_000, 10_000_000, 60_000_000]), seen, requests };
            if !reads || r.one_in(4) { c.number += 1; batch.number = c.number }
            match r.below(30) {
                0 => batch.not_after = (now + r.below(4)).saturating_sub(2),
                1 if batch.number > 0 && n < 5 => if let Some(known) = state.session(Inbox(c.inbox)).unwrap() && known.number > 1 { batch.number = known.number - 1 },
                2 | 3 => if let Some(last) = &c.last { batch = Batch { seen, ..last.clone() } },
                _ => {}
            }
            // Which of the sessions that are over are forgotten first differs in a crowd.
            if n > 5 && batch.number > 0 && c.last.as_ref().is_some_and(|l| l.number == batch.number && l.not_after < now) { c.number += 1; batch.number = c.number; batch.not_after = now + 10_000_000 }
            if batch.number > 0 { c.last = Some(batch.clone()); c.until = batch.not_after }
            let outcome = execute(&mut state, &mut Ears(&ears, None), now, &batch).unwrap();
            state.check().unwrap();
            for reply in &outcome.replies.replies { if let Reply::Popped { items, .. } = reply { for i in items { if !c.held.contains(&i.delivery) { c.held.push(i.delivery) } } } }
            if c.held.len() > 300 { c.held.drain(..100); }
            let (mut payloads, mut told, mut body) = (vec![], vec![], vec![]);
            f(&mut body, now); body.push(u8::from(outcome.replies.backlog)); body.extend(outcome.replies.look_in.map_or(-1.0, |l| l as f64).to_le_bytes());
            let requests: String = batch.requests.iter().map(|r| hex(&request(r, &mut payloads))).collect();
            for reply_ in &outcome.replies.replies { body.extend(reply(reply_, &mut told, false)) }
            let or_dash = |s: String| if s.is_empty() { "-".into() } else { s };
            println!("{now}\t{:032x}\t{}\t{}\t{seen}\t{heard}\t{}\t{}\t{}\t{}\t{}\t{}\t{:?}", batch.session.0, batch.number, batch.not_after, or_dash(requests), or_dash(payloads.join(",")), hex(&body), or_dash(told.join(",")), or_dash(outcome.wakeups.iter().map(wakeup).collect::<Vec<_>>().join(",")), dump(&mut state, &clients, &keys), batch.requests);
        }
    }
}
