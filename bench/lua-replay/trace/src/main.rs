//! Prints random histories of names, executed by the Rust ledger: requests in the packed form, the
//! answers and notifications that are right, and the state after each call. See ../replay.py.
use seinpaal_proto::*;
use trace::*;
use std::collections::BTreeMap;
use std::fmt::Write;
struct Client { inbox: u128, series: u128, ttl: u64, numbers: BTreeMap<u128, u32>, about: String, drawn: u64 }
const PLACE: u128 = 0x7fff_ffff;
fn id(b: &mut Vec<u8>, t: u128) { b.extend(&t.to_be_bytes()) }
fn home(b: &mut Vec<u8>, t: Ticket) { id(b, t.series().0); u(b, t.number()) }
fn cause(c: Cause) -> u8 { match c { Cause::Released => 0, Cause::Cancelled => 1, Cause::Expired => 2, Cause::Evicted => 3, Cause::TooMany => 4, Cause::Attached => 5 } }
fn pairs(b: &mut Vec<u8>, s: &Slots) { for (x, y) in s.ranges() { u(b, *x); u(b, *y); } }
fn slots(b: &mut Vec<u8>, s: &Slots) { b.extend((s.ranges().len() as u16).to_le_bytes()); pairs(b, s) }
fn request(r: &Request) -> Vec<u8> {
    let mut b = vec![];
    let op = match r {
        Request::Acquire(a) => {
            home(&mut b, a.ticket); b.push(a.kind.letter() as u8);
            b.push(a.limit.map_or(0, |l| match l.on_mismatch { OnMismatch::Refuse => 1, OnMismatch::Adopt => 2, OnMismatch::Set => 3, OnMismatch::Exact => 4 }));
            b.push(u8::from(!a.wishes.is_empty())); u(&mut b, a.permits.get()); u(&mut b, a.limit.map_or(0, |l| l.limit.get()));
            f(&mut b, a.ttl); f(&mut b, a.margin); f(&mut b, a.not_after.unwrap_or(UNBOUNDED));
            b.extend(match a.enqueue { Enqueue::No => -1.0, Enqueue::Yes { max_waiting: None } => UNBOUNDED as f64, Enqueue::Yes { max_waiting: Some(n) } => f64::from(n) }.to_le_bytes());
            b.push(a.priority.get() as u8); f(&mut b, a.waiter_ttl);
            if !a.wishes.is_empty() { text(&mut b, &a.wishes.to_string()) }
            b.extend(a.about.as_bytes()); 1
        }
        Request::Release { ticket, slots: some } => { home(&mut b, *ticket); if let Some(s) = some { slots(&mut b, s) } 2 }
        Request::Renew(r) => match &r.whom {
            Whom::All { members, digest } => { let waits = r.lease.0 & 0xffff_ffff == PLACE; id(&mut b, if waits { r.lease.0 & !0xffff_ffff } else { r.lease.0 }); b.push(u8::from(waits)); f(&mut b, r.ttl); f(&mut b, r.margin); u(&mut b, *members); f(&mut b, *digest); 3 }
            Whom::Tickets(ts) if ts.len() == 1 && r.lease.0 == ts[0].series().0 => { home(&mut b, ts[0]); f(&mut b, r.ttl); f(&mut b, r.margin); 4 }
            Whom::Tickets(ts) => { id(&mut b, r.lease.0); f(&mut b, r.ttl); f(&mut b, r.margin); for t in ts { id(&mut b, t.0) } 6 }
        },
        Request::Cancel { ticket, remember, attach } => { home(&mut b, *ticket); f(&mut b, *remember); if let Some(l) = attach { id(&mut b, l.0) } 5 }
        Request::Evict { ticket } => { home(&mut b, *ticket); 7 }
        Request::Attach(a) => { home(&mut b, a.ticket); id(&mut b, a.lease.0); f(&mut b, a.ttl); f(&mut b, a.margin); f(&mut b, a.not_after.unwrap_or(UNBOUNDED)); b.extend(a.about.as_bytes()); 8 }
        Request::Detach { ticket, fence, ttl, margin } => { home(&mut b, *ticket); f(&mut b, fence.0); f(&mut b, *ttl); f(&mut b, *margin); 9 }
        Request::Configure(c) => { match c { Configure::Limit(l) => { b.push(b'l'); u(&mut b, l.get()) } Configure::Slots(names) => { b.push(b's'); b.extend(names.to_string().as_bytes()) } Configure::Unpin => b.push(b'u'), Configure::Pause(why) => { b.push(b'p'); b.extend(why.as_bytes()) } Configure::Resume => b.push(b'r') } 10 }
        Request::Inspect { .. } => { b.extend([3, 0]); b.extend(b"0"); 11 }
        _ => unreachable!(),
    };
    let mut out = vec![op]; out.extend((b.len() as u16).to_le_bytes()); out.extend(b); out
}
fn told(b: &mut Vec<u8>, s: &Slots, names: &SlotNames) { slots(b, s); text(b, &names.to_string()) }
fn reply(r: &Reply, waits: bool) -> Vec<u8> {
    let mut b = vec![];
    match r {
        Reply::Granted(g) => { b.push(1); f(&mut b, g.fence.0); u(&mut b, g.limit); f(&mut b, g.valid_for.unwrap()); told(&mut b, &g.slots, &g.names) }
        Reply::Queued { waiting, limit, .. } => { b.push(2); u(&mut b, *waiting); u(&mut b, *limit) }
        Reply::Busy { why, limit, held, waiting, .. } => { b.push(3); b.push(match why { Busy::Full => 1, Busy::TooManyWaiting => 2, Busy::Paused => 3, Busy::Guarded => 4 }); u(&mut b, *limit); u(&mut b, *held); u(&mut b, *waiting); b.push(0) }
        Reply::OtherKind { stored, stated, .. } => { b.push(4); b.push(stored.letter() as u8); b.push(stated.letter() as u8) }
        Reply::OtherLimit { stored, stated, is_pinned, .. } => { b.push(5); u(&mut b, *stored); u(&mut b, *stated); b.push(u8::from(*is_pinned)) }
        Reply::TooMany { permits, limit, .. } => { b.push(6); u(&mut b, *permits); u(&mut b, *limit) }
        Reply::TooLate { .. } => b.push(7),
        Reply::Ended { cause: c, .. } => { b.push(8); b.push(cause(*c)) }
        Reply::Unknown { .. } => b.push(9),
        Reply::Renewed { valid_for } => { b.push(if waits { 19 } else { 10 }); f(&mut b, valid_for.unwrap()); b.extend([0, 0]); if waits { u(&mut b, 0) } }
        Reply::Differs => b.push(11),
        Reply::Gone => b.push(12),
        Reply::Tickets { valid_for, tickets } => { b.push(13); f(&mut b, valid_for.unwrap()); b.extend((tickets.len() as u16).to_le_bytes());
            for t in tickets { match t { TicketReply::Held { fence, slots: s, names, .. } => { b.push(1); f(&mut b, fence.0); told(&mut b, s, names) } TicketReply::Waiting => b.push(2), TicketReply::Ended(c) => { b.push(8); b.push(cause(*c)) } TicketReply::Unknown => b.push(9) } } }
        Reply::Released { left, .. } => { b.push(14); u(&mut b, *left) }
        Reply::Cancelled { .. } => b.push(15),
        Reply::Evicted { .. } => b.push(16),
        Reply::Configured { limit } => { b.push(17); u(&mut b, *limit) }
        Reply::NoSuchSlot { there, .. } => { b.push(18); text(&mut b, &there.to_string()) }
        Reply::SlotsInUse { names } => { b.push(20); text(&mut b, &names.to_string()) }
        Reply::Snapshot(s) => {
            b.push(21);
            let o = |x: Option<u32>| x.map_or("-".into(), |x| x.to_string());
            let mut rows: Vec<String> = s.holders.iter().map(|h| format!("{:032x} h {} {} {} {}", h.ticket.0, h.fence.0, h.valid_for.unwrap(), h.slots, h.about)).chain(s.waiters.iter().map(|w| format!("{:032x} w {} {} {} {} {}", w.ticket.0, w.permits, w.priority, u8::from(w.unreachable), w.wishes, w.about))).collect();
            rows.sort();
            b.extend(format!("{}|{}|{}|{}|{}|{}|{}|{}|{};{}", s.kind.map_or('-', Kind::letter), s.limit, o(s.stated), o(s.pinned), s.slot_names, s.paused.as_deref().map_or("-".into(), |p| format!("={p}")), s.held, s.holders_total, s.waiting_total, rows.join(";")).as_bytes());
        }
        other => panic!("{other:?}"),
    }
    b
}
fn wakeup(w: &Wakeup) -> String {
    let mut b = vec![]; id(&mut b, w.ticket.0);
    match &w.what { What::Granted { fence, slots: s, limit } => { b.push(b'g'); f(&mut b, fence.0); u(&mut b, *limit); pairs(&mut b, s) } What::Ended(c) => { b.push(b'e'); b.push(cause(*c)) } What::Asked => unreachable!() }
    format!("{:032x}:{}:{}", w.inbox.0, w.name, hex(&b))
}
fn inbox_text(i: Option<Inbox>) -> String { format!("{:032x}", i.map_or(0, |i| i.0)) }
/// The state in a form that replay.py also makes of the stored one.
fn dump(state: &mut MemoryState) -> String {
    if state.is_empty() { return String::new() }
    let head = state.head().unwrap();
    let mut s = String::new();
    let o = |x: Option<u32>| x.map_or("-".into(), |x| x.to_string());
    let arrival = if head.arrival >= head.clock { head.arrival } else { 0 };
    let _ = write!(s, "{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", head.kind.map_or('-', Kind::letter), o(head.stated), o(head.pinned), head.names, head.paused.as_deref().map_or("-".into(), |p| format!("={p}")), head.clock, head.wall, head.fence, arrival, head.bound, head.held, head.holders, head.waiting);
    for l in state.leases() { let _ = write!(s, ";L {:032x} {} {} {} {} {} {}", l.id.0, inbox_text(l.inbox), l.ends, l.ends_wall, l.members, l.digest, l.parked); }
    for e in state.entries() {
        let _ = write!(s, ";T {:032x} {:032x} {} {} {} {} ", e.ticket.0, e.lease.0, inbox_text(e.inbox), e.permits, e.ttl, e.about.replace(' ', "_"));
        match &e.standing { Standing::Holding { fence, slots } => { let _ = write!(s, "h {} {}", fence.0, slots); } Standing::Waiting { rank, priority, margin, wishes, parked, .. } => { let _ = write!(s, "w {rank} {priority} {margin} {wishes} {}", u8::from(*parked)); } }
    }
    for m in state.memories() { let _ = write!(s, ";M {:032x} {} {} {} {}", m.series.0, m.last, m.until, m.open, m.ends.iter().map(|(n, c)| format!("{n}:{}", cause(*c))).collect::<Vec<_>>().join(",")); }
    s
}
fn main() {
    let args: Vec<u64> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    let all = args.get(3).copied().unwrap_or(255); // which kinds of requests: bits
    for seed in args[0]..args[1] {
        let steps = args[2];
        let mut r = Rng(seed.wrapping_mul(7919));
        let crowd = seed % 10 == 9;
        let n = 1 + r.below(if crowd { 90 } else { 5 });
        let long = seed % 10 == 8; let calm = seed % 3 == 1;
        let named = all & 2 > 0 && seed % 4 == 2; let attaching = all & 4 > 0 && seed % 2 == 0;
        let groups = all & 8 > 0 && seed % 7 == 3;
        let mut clients: Vec<Client> = (0..n).map(|i| { let session = u128::from(r.next()); let series = session << 64 | u128::from(r.next() & 0x7fff_ffff) << 32; Client { inbox: session << 64 | u128::from(r.next()), series, ttl: r.of(&[30_000_000, 30_000_000, 5_000_000, 1_000_000, 100_000]), numbers: BTreeMap::from([(series, 0)]), about: format!("client{i}"), drawn: 0 } }).collect();
        let mut ears: BTreeMap<u128, bool> = clients.iter().map(|c| (c.inbox, true)).collect();
        let names: Vec<Name> = (0..if groups { 3 } else { 1 }).map(|i| Name::new(&format!("c{seed}n{i}")).unwrap()).collect();
        let mut states: Vec<MemoryState> = names.iter().map(|_| MemoryState::default()).collect();
        let mut now: u64 = 1_700_000_000_000_000;
        let most = if long { 200 } else if n > 10 { 1 + r.below(100) } else { 1 + r.below(5) };
        println!("case {seed} {}", clients.iter().map(|c| format!("{:032x}", c.inbox)).collect::<Vec<_>>().join(","));
        for _ in 0..steps {
            let at = r.below(names.len() as u64) as usize;
            now = match if calm { 3 + r.below(40) } else { r.below(20) } { 0 => now - r.below(3_000_000), 1 => now + r.below(40_000_000), 2 | 3 => now + r.below(6_000_000), 4 => {
                let state = &mut states[at];
                let mut ends: Vec<u64> = state.leases().flat_map(|l| [l.ends_wall, l.ends]).chain(state.memories().map(|m| m.until)).collect(); ends.push(state.head().unwrap().fence);
                let e = r.of(&ends); (e + r.below(3)).saturating_sub(1).max(now + 1).min(now + 100_000_000) }
                5 => now, _ => now + r.below(200_000) };
            if r.one_in(12) { let i = r.below(n) as usize; let e = ears.get_mut(&clients[i].inbox).unwrap(); *e = !*e }
            let heard: String = clients.iter().map(|c| if ears[&c.inbox] { '1' } else { '0' }).collect();
            let who = r.below(n) as usize;
            let operator = !calm && r.one_in(15);
            let together = groups && !operator && r.one_in(6);
            let targets: Vec<usize> = if together || groups && r.one_in(3) { (0..names.len()).collect() } else { vec![at] };
            let inbox = (!operator).then_some(Inbox(clients[who].inbox));
            let seen = if r.one_in(if calm { 200 } else { 30 }) { now + r.below(2_000_000) } else { 0 };
            let mut batches: Vec<Batch> = vec![];
            for &t in &targets {
                let state = &states[t];
                let mut requests = vec![];
                for _ in 0..if together { 1 } else { r.of(&[0, 1, 1, 1, 1, 1, 1, 2, 3]) } {
                    let other = if operator || r.one_in(25) { r.below(n) as usize } else { who };
                    // A lease has at most 64 tickets: then the client begins another series.
                    let mine = clients[who].series;
                    let count = state.entries().filter(|e| e.ticket.series().0 == mine).count();
                    if count >= 60 || r.one_in(60) { let c = &mut clients[who]; c.series = c.series >> 64 << 64 | u128::from(r.next() & 0x7fff_ffff) << 32; c.numbers.insert(c.series, 0); if r.one_in(2) { c.ttl = r.of(&[30_000_000, 5_000_000, 1_000_000]) } }
                    let held: Vec<Ticket> = state.entries().filter(|e| clients[other].numbers.contains_key(&e.ticket.series().0) || e.inbox.is_some_and(|i| i.0 == clients[other].inbox) || e.inbox.is_none()).map(|e| e.ticket).collect();
                    let any = |r: &mut Rng, c: &Client| { let all: Vec<_> = c.numbers.iter().map(|(s, n)| (*s, *n)).collect(); let (s, n) = r.of(&all); Ticket(s | u128::from(1 + r.below(u64::from(n) + 2) as u32)) };
                    let ticket = if held.is_empty() || r.one_in(6) { any(&mut r, &clients[other]) } else { r.of(&held) };
                    let (ttl, margin) = (clients[who].ttl, clients[who].ttl / 4);
                    let ttl = if !calm && r.one_in(20) { r.of(&[30_000_000, 1_000_000, 100_000]) } else { ttl };
                    let what = if together { 0 } else if calm && !r.one_in(60) { let k = r.below(4); r.of(&[r.0 % 25, 25 + r.0 % 14, 25 + r.0 % 14, 44 + r.0 % 14][k as usize..k as usize + 1]) } else { r.below(if operator { 110 } else if attaching { 72 } else { 60 }) };
                    requests.push(match what {
                        0..=24 if !operator => {
                            let c = &mut clients[who]; let s = c.series; let last = c.numbers.get_mut(&s).unwrap();
                            let number = if !together && r.one_in(if calm { 25 } else { 5 }) && *last > 0 { 1 + r.below(u64::from(*last)) as u32 } else { *last += 1 + u32::from(r.one_in(10)); *last };
                            let permits = if r.one_in(3) { 1 + r.below(most) as u32 } else { 1 };
                            let limit = match if calm && !r.one_in(30) { 3 } else { r.below(12) } { 0 => None, 1 => Some(r.below(most + 2) as u32), _ => Some(most as u32) };
                            let kind = if r.one_in(40) { Kind::Mutex } else if r.one_in(60) { Kind::RwLock } else { Kind::Semaphore };
                            let wishes = if named && r.one_in(3) || r.one_in(80) { let from = r.below(4) as usize; SlotNames::new(["a", "b", "c", "d", "e", "x"][from..from + 1 + r.below(2) as usize].to_vec()).unwrap() } else { SlotNames::none() };
                            Request::Acquire(Acquire { ticket: Ticket(s | u128::from(number)), kind, permits: Permits::new(permits).unwrap(), limit: limit.map(|l| LimitRule { limit: Limit::new(l).unwrap(), on_mismatch: r.of(&[OnMismatch::Refuse, OnMismatch::Refuse, OnMismatch::Adopt, OnMismatch::Set, OnMismatch::Exact]) }),
                                enqueue: if together { Enqueue::No } else { match if calm && !r.one_in(40) { 0 } else { r.below(6) } { 0 => Enqueue::No, 1 => Enqueue::Yes { max_waiting: Some(r.below(3) as u32) }, _ => Enqueue::Yes { max_waiting: None } } },
                                priority: Priority::new(if r.one_in(6) { r.below(5) as i32 - 1 } else { 0 }).unwrap(), lease: LeaseId(s), ttl, margin, waiter_lease: LeaseId(s | PLACE), waiter_ttl: 15_000_000,
                                not_after: if r.one_in(10) { Some((now + r.below(20)).saturating_sub(10)) } else { None }, wishes, about: if !calm && r.one_in(20) { "other".into() } else { c.about.clone() } })
                        }
                        25..=38 | 61..=64 | 73..=80 => Request::Release { ticket, slots: if r.one_in(if calm { 50 } else { 8 }) { Some(if r.one_in(9) { Slots::none() } else { let mut s = Slots::range(r.below(3) as u32, 2 + r.below(3) as u32); if r.one_in(3) { s.insert(7, 9) } s }) } else { None } },
                        39..=42 => { let entry = state.entries().find(|e| e.ticket == ticket); Request::Cancel { ticket, remember: r.of(&[0, 1_000_000, 30_000_000]), attach: if attaching && r.one_in(3) { Some(entry.filter(|_| !r.one_in(3)).map_or(LeaseId(clients[who].series ^ (7 << 40)), |e| e.lease)) } else { None }.filter(|l| l.0 & 0xffff_ffff != PLACE) } },
                        43 | 81..=87 => Request::Evict { ticket },
                        44..=50 if !operator => {
                            let leases: Vec<LeaseId> = state.leases().filter(|l| l.inbox == inbox).map(|l| l.id).collect();
                            let lease = if leases.is_empty() || r.one_in(4) { LeaseId(clients[who].series | if r.one_in(3) { PLACE } else { 0 }) } else { r.of(&leases) };
                            let (mut members, mut digest) = (0, 0_u64);
                            for e in state.entries().filter(|e| e.lease == lease) { members += 1; digest = (digest + e.ticket.digest()) & ((1 << 48) - 1) }
                            if r.one_in(5) { digest += 1 }
                            Request::Renew(Renew { lease, ttl: if lease.0 & 0xffff_ffff == PLACE { 15_000_000 } else { ttl }, margin, whom: Whom::All { members, digest } })
                        }
                        51..=57 | 88..=95 => {
                            // A new lease of its own, sometimes: then the ticket moves.
                            let lease = if operator { if r.one_in(2) { ticket.0 } else { clients[who].series ^ (3 << 40) } } else if r.one_in(6) { clients[who].series ^ (1 << 40) } else if r.one_in(2) && clients[who].numbers.contains_key(&ticket.series().0) { ticket.series().0 } else { clients[who].series };
                            let mut tickets = vec![ticket]; if r.one_in(2) { for t in held { if r.one_in(2) && tickets.len() < 40 && t != ticket { tickets.push(t) } } }
                            Request::Renew(Renew { lease: LeaseId(lease), ttl, margin, whom: Whom::Tickets(tickets) })
                        }
                        65..=69 => {
                            let victim = { let all: Vec<Ticket> = state.entries().map(|e| e.ticket).collect(); if all.is_empty() || r.one_in(8) { ticket } else { r.of(&all) } };
                            let c = &mut clients[who]; if !r.one_in(5) || c.drawn == 0 { c.drawn += 1 }
                            Request::Attach(Attach { ticket: victim, lease: LeaseId(c.inbox >> 64 << 64 | u128::from(0x8000_0000 + c.drawn - u64::from(r.one_in(8) && c.drawn > 1)) << 32), ttl, margin, not_after: if r.one_in(12) { Some((now + r.below(20)).saturating_sub(10)) } else { None }, about: format!("attacher{who}") })
                        }
                        70..=72 => { let fence = state.entries().find(|e| e.ticket == ticket).map_or(1, |e| match &e.standing { Standing::Holding { fence, .. } => fence.0, _ => 1 }); Request::Detach { ticket, fence: Fence(fence - u64::from(r.one_in(5))), ttl, margin } }
                        _ if all & 1 == 0 => Request::Evict { ticket },
                        _ => Request::Configure(match r.below(if named { 9 } else { 6 }) { 0 => Configure::Limit(Limit::new(r.below(most + 2) as u32).unwrap()), 1 | 2 => Configure::Unpin, 3 => Configure::Pause("why".into()), 4 | 5 => Configure::Resume, _ => Configure::Slots(SlotNames::new(["a", "b", "c", "d", "e"][..1 + r.below(5) as usize].to_vec()).unwrap()) }),
                    });
                }
                if !groups && r.one_in(15) { requests = vec![Request::Inspect { rows: 100_000 }] }
                batches.push(Batch { name: names[t].clone(), inbox, fence_seen: seen, requests });
            }
            let mut out = vec![]; let mut wakeups: Vec<String> = vec![];
            let (mut refused, mut ran) = (false, vec![]);
            for (batch, &t) in batches.iter().zip(&targets) {
                let mut b = vec![];
                if !refused {
                    let outcome = execute(&mut states[t], &mut Ears(&ears, None), now, batch).unwrap();
                    f(&mut b, now); b.extend(if outcome.replies.backlog { -2.0 } else { outcome.replies.look_in.map_or(-1.0, |l| l as f64) }.to_le_bytes());
                    for (reply_, request) in outcome.replies.replies.iter().zip(&batch.requests) { b.extend(reply(reply_, matches!(request, Request::Renew(r) if r.lease.0 & 0xffff_ffff == PLACE && matches!(r.whom, Whom::All { .. })))) }
                    wakeups.extend(outcome.wakeups.iter().map(wakeup));
                    if together && !matches!(outcome.replies.replies[0], Reply::Granted(_)) { refused = true }
                    if together && !refused { ran.push(t) }
                }
                out.push(hex(&b));
            }
            if refused { for &t in ran.iter().rev() { let Request::Acquire(a) = &batches[targets.iter().position(|x| *x == t).unwrap()].requests[0] else { unreachable!() };
                let batch = Batch { name: names[t].clone(), inbox, fence_seen: seen, requests: vec![Request::Cancel { ticket: a.ticket, remember: a.ttl, attach: None }] };
                let outcome = execute(&mut states[t], &mut Ears(&ears, None), now, &batch).unwrap(); wakeups.extend(outcome.wakeups.iter().map(wakeup)); } }
            let mut line = format!("{now} {} {seen} {heard} {} ", inbox.map_or("-".into(), |i| format!("{:032x}", i.0)), u8::from(together));
            for ((batch, &t), want) in batches.iter().zip(&targets).zip(&out) {
                let requests: String = batch.requests.iter().map(|r| hex(&request(r))).collect();
                let _ = write!(line, "{t}\u{1}{}\u{1}{}\u{1}{}\u{2}", if requests.is_empty() { "-".into() } else { requests }, want, dump(&mut states[t]).replace(' ', "\u{3}"));
            }
            line.pop();
            println!("{line} {} #{}", if wakeups.is_empty() { "-".into() } else { wakeups.join(",") }, batches.iter().map(|b| format!("{:?}", b.requests)).collect::<Vec<_>>().join("; ").replace('\n', " "));
        }
    }
}
