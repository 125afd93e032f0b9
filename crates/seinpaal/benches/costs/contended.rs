//! Many clients compete for one permit in a closed loop, 20 ms in hand, as the peers were measured.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use seinpaal::{Fence, Seinpaal, Semaphore, Ticket};
use tokio::{sync::watch, task::JoinSet};

use crate::{
    heard::{Heard, requests},
    server::Server,
    table::{Bound, Table, quantile, text},
};

const HOLD: Duration = Duration::from_millis(20);

struct Grant {
    client: usize,
    ticket: Ticket,
    fence: Fence,
    waited: Duration,
    at: Instant,
    released: Instant,
}

/// The grants and commands of a run.
struct Run {
    clients: usize,
    /// In the order of their fences.
    grants: Vec<Grant>,
    commands: Vec<String>,
}

pub(crate) async fn fifty(server: &Server, table: &mut Table) {
    let run = contend(server, 50, 200).await;
    let what = "50 connections, limit 1, 200 grants: commands a grant, renewals apart";
    let peers = "npm 91, node-redlock 7, AAS 8";
    table.count(what, run.commands_a_grant(is_no_renewal), Bound::AtMost(3.0), peers);
    let figure = format!("{:.2}", run.commands_a_grant(|_| true));
    table.figure("50 connections: commands a grant, renewals included", &figure, peers);
    run.describe(table, "npm 0.5 / 13 ms, AAS 4.9 / 10 ms", "npm 3.9 s, AAS 1.3 s");
}

pub(crate) async fn two_hundred(server: &Server, table: &mut Table) {
    let run = contend(server, 200, 400).await;
    let what = "200 connections, limit 1, 400 grants: pairs granted against the order of arrival";
    table.count(what, run.inversions() as f64, Bound::Exactly(0.0), "npm 29 % of pairs");
    let what = "200 connections: clients never served";
    table.count(what, run.never_served() as f64, Bound::Exactly(0.0), "npm 69");
    let figure = format!("{:.2}", run.commands_a_grant(|_| true));
    table.figure("200 connections: commands a grant, renewals included", &figure, "npm 333");
    run.describe(table, "npm 1.1 / 13 ms", "npm 9.1 s");
}

async fn contend(server: &Server, clients: usize, grants: usize) -> Run {
    let mut semaphores = Vec::new();
    for _ in 0..clients {
        let seinpaal = Seinpaal::connect(&server.url()).await.expect("the store is there");
        semaphores.push(seinpaal.semaphore(&format!("contended by {clients}")).limit(1));
    }
    let made = Arc::new(Mutex::new(Vec::new()));
    let (stop, is_over) = watch::channel(false);
    let tap = server.tap();
    let mut tasks = JoinSet::new();
    for (client, semaphore) in semaphores.iter().cloned().enumerate() {
        let (made, mut is_over) = (Arc::clone(&made), is_over.clone());
        tasks.spawn(async move {
            tokio::select! {
                () = work(client, semaphore, made) => {}
                _ = is_over.wait_for(|is_over| *is_over) => {}
            }
        });
    }
    while made.lock().expect("whole").len() < grants {
        tokio::time::sleep(HOLD).await;
    }
    // The tap ends before the clients do. It has heard every grant that was made by now.
    let heard = made.lock().expect("whole").len();
    let commands = tap.end();
    stop.send_replace(true);
    tasks.join_all().await;
    let mut grants = std::mem::take(&mut *made.lock().expect("whole"));
    grants.truncate(heard);
    grants.sort_by_key(|grant: &Grant| grant.fence);
    Run { clients, grants, commands }
}

async fn work(client: usize, semaphore: Semaphore, made: Arc<Mutex<Vec<Grant>>>) {
    loop {
        let asked = Instant::now();
        let permit = semaphore.acquire().await.expect("a permit");
        let (ticket, fence, at) = (permit.ticket(), permit.fence(), Instant::now());
        tokio::time::sleep(HOLD).await;
        let released = Instant::now();
        let grant = Grant { client, ticket, fence, waited: at - asked, at, released };
        made.lock().expect("whole").push(grant);
        permit.release().await.expect("it was held");
    }
}

impl Run {
    fn commands_a_grant(&self, counts: impl Fn(&str) -> bool) -> f64 {
        let commands = self.commands.iter().filter(|command| counts(command)).count();
        commands as f64 / self.grants.len() as f64
    }

    fn never_served(&self) -> usize {
        (0..self.clients).filter(|i| !self.grants.iter().any(|grant| grant.client == *i)).count()
    }

    /// Pairs of grants in which the request that came to the server later was served first.
    fn inversions(&self) -> usize {
        let arrivals = arrivals(&self.commands);
        let order = |grant: &Grant| {
            let place = arrivals.get(&grant.ticket.to_string());
            *place.expect("the tap heard the acquire of each grant; is its text another now?")
        };
        let order: Vec<usize> = self.grants.iter().map(order).collect();
        (1..order.len())
            .map(|i| order[..i].iter().filter(|earlier| **earlier > order[i]).count())
            .sum()
    }

    fn describe(&self, table: &Table, hand_offs: &str, waits: &str) {
        let pairs = self.grants.windows(2);
        let mut times: Vec<_> = pairs.map(|pair| pair[1].at - pair[0].released).collect();
        let (p50, p99) = (quantile(&mut times, 0.5), quantile(&mut times, 0.99));
        let what = format!("{} connections: release to next grant, p50 / p99", self.clients);
        table.figure(&what, &format!("{} / {}", text(p50), text(p99)), hand_offs);
        let longest = self.grants.iter().map(|grant| grant.waited).max().unwrap_or_default();
        let what = format!("{} connections: longest wait", self.clients);
        table.figure(&what, &text(longest), waits);
    }
}

/// Renewals go by time, so a slow machine makes more of them.
fn is_no_renewal(command: &str) -> bool {
    let requests = requests(command);
    requests.is_empty() || requests.iter().any(|request| *request != Heard::Renewal)
}

/// The place of each ticket in the order in which the server first heard of them.
fn arrivals(commands: &[String]) -> HashMap<String, usize> {
    let mut places = HashMap::new();
    for request in commands.iter().flat_map(|command| requests(command)) {
        if let Heard::Acquire(ticket) = request {
            let place = places.len();
            places.entry(ticket).or_insert(place);
        }
    }
    places
}
