//! Tickets that have ended: how the scripts compute their digests, and how many of them they
//! remember.

use seinpaal_proto::Ticket;

use super::{
    bench::{Bench, KEY},
    history::{Event, FenceSeen, Sketch},
};

#[tokio::test]
async fn the_scripts_have_the_digests_of_the_ledger() {
    let mut bench = Bench::new(None).await;
    let mut rng = fastrand::Rng::with_seed(5);
    let tickets = (0..2_000).map(|n| {
        let ticket = Ticket(rng.u128(..));
        if n % 2 == 0 { ticket } else { ticket.series().ticket(n) }
    });
    let tickets: Vec<Ticket> = tickets.collect();
    let script = concat!(
        include_str!("../../../redis/src/lua/forms.lua"),
        include_str!("../../../redis/src/lua/begin.lua"),
        "local sums = {}
         for i = 4, #ARGV do sums[#sums + 1] = format('%.0f', digest_of(ARGV[i])) end
         return sums"
    );
    let mut eval = redis::cmd("EVAL");
    eval.arg(script.replace("SIZE_OF_HEAD", "0")).arg(0).arg(&["1", "", "0"]);
    for ticket in &tickets {
        eval.arg(ticket.to_string());
    }
    let sums: Vec<String> = eval.query_async(&mut bench.ears).await.unwrap();
    let expected = tickets.iter().map(|ticket| ticket.digest().to_string());
    assert!(sums.into_iter().eq(expected));
}

#[tokio::test]
async fn only_so_many_causes_of_a_series_are_remembered_and_those_of_the_lowest_numbers_go_first() {
    let mut bench = Bench::new(None).await;
    let ticket = |number| Ticket(7 << 32).series().ticket(number);
    let cancels = (1..=70).map(|number| Sketch::Cancel {
        ticket: ticket(number),
        remember: 1_000_000_000,
        attach: None,
    });
    let looks = (1..=71).map(|number| Sketch::Release { ticket: ticket(number), slots: None });
    let sketches: Vec<Sketch> = cancels.chain(looks).collect();
    let history: Vec<Event> = sketches
        .chunks(64)
        .map(|sketches| Event::Call {
            step: 1,
            inbox: None,
            fence: FenceSeen::None,
            sketches: sketches.to_vec(),
        })
        .collect();
    assert_eq!(bench.difference(&history).await, None);
}

#[tokio::test]
async fn only_so_many_series_are_remembered_and_the_oldest_go_first() {
    let mut bench = Bench::new(None).await;
    let cancels = |from: u128| {
        (0..64).map(move |i| Sketch::Cancel {
            ticket: Ticket((from + i) << 32 | 1),
            remember: 1_000_000_000 + (from + i) as u64,
            attach: None,
        })
    };
    let history = (0..1030).map(|i| Event::Call {
        step: 1,
        inbox: None,
        fence: FenceSeen::None,
        sketches: cancels(i * 64).collect(),
    });
    let history = history.collect::<Vec<_>>();
    assert_eq!(bench.difference(&history).await, None);
    let kept: u64 = redis::cmd("ZLEXCOUNT")
        .arg(format!("{KEY}:o"))
        .arg("[e")
        .arg("(f")
        .query_async(&mut bench.ears)
        .await
        .unwrap();
    assert!((65_536..65_536 + 64).contains(&kept), "{kept}");
}
