//! The client's side.

use std::{
    env, fs,
    io::{BufRead, BufReader, Write},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    thread,
    time::Duration,
};

use rustix::process::{Resource, Rlimit, Signal, getpid, getrlimit, kill_process, setrlimit};
use seinpaal::{
    Seinpaal,
    store::{
        News, Store, StoreError,
        embedded::{EmbeddedStore, OpenOptions},
    },
};
use seinpaal_proto::{
    Acquire, Batch, Configure, Enqueue, Inbox, Kind, Limit, LimitRule, Name, OnMismatch, Permits,
    Priority, Reply, Request, Ticket, Wakeup, What, time::SECOND,
};
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::mpsc,
};

use super::queue::Hand;

/// The ticket with this number. A small one is the first of a series of its own, so that any client
/// may ask for it.
pub(crate) const fn ticket(number: u128) -> Ticket {
    Ticket(if number >> 32 == 0 { number << 32 | 1 } else { number })
}

pub(crate) fn acquire(number: u128, limit: u32, waits: bool) -> Request {
    let limit = Limit::new(limit).unwrap();
    Request::Acquire(Acquire {
        ticket: ticket(number),
        kind: Kind::Semaphore,
        permits: Permits::ONE,
        wishes: seinpaal_proto::SlotNames::none(),
        limit: Some(LimitRule { limit, on_mismatch: OnMismatch::Adopt }),
        enqueue: if waits { Enqueue::Yes { max_waiting: None } } else { Enqueue::No },
        priority: Priority::default(),
        ttl: 600 * SECOND,
        margin: 150 * SECOND,
        waiter_ttl: 600 * SECOND,
        not_after: None,
        about: String::new(),
    })
}

pub(crate) fn batch(name: &str, inbox: Inbox, request: Request) -> Batch {
    let name = Name::new(name).unwrap();
    Batch { name, inbox: Some(inbox), fence_seen: 0, requests: vec![request] }
}

pub(crate) async fn ask(
    store: &EmbeddedStore,
    inbox: Inbox,
    name: &str,
    request: Request,
) -> Result<Reply, StoreError> {
    let batch = batch(name, inbox, request);
    Ok(store.call(&batch).await?.replies.remove(0))
}

/// Does nothing unless this process was started as a client.
pub(crate) fn run() {
    let (Ok(dir), Ok(inbox)) = (env::var(super::DIR), env::var(super::INBOX)) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(obey(PathBuf::from(dir), inbox.parse().unwrap()));
}

fn say(what: &str) {
    println!("> {what}");
    std::io::stdout().flush().unwrap();
}

async fn obey(dir: PathBuf, inbox: Inbox) {
    let (send, mut news) = mpsc::unbounded_channel();
    let options = OpenOptions {
        looks_only_when_told: env::var_os(super::ONLY_WHEN_TOLD).is_some(),
        ..OpenOptions::default()
    };
    let store = match EmbeddedStore::open_with(&dir, options, inbox, send) {
        Ok(store) => store,
        Err(error) => return say(&failed(&error)),
    };
    say("open");
    let mut orders = orders();
    let hand = Hand::new(Arc::clone(&store), inbox);
    let mut servant = Servant { dir, inbox, store, hand, children: Vec::new() };
    loop {
        tokio::select! {
            Some(news) = news.recv() => told(&news).iter().for_each(|news| say(news)),
            order = orders.recv() => match order {
                Some(order) => say(&servant.obey(&order).await),
                None => return,
            },
        }
    }
}

fn orders() -> mpsc::UnboundedReceiver<String> {
    let (send, orders) = mpsc::unbounded_channel();
    thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            let _ = send.send(line);
        }
    });
    orders
}

fn told(news: &News) -> Option<String> {
    Some(match news {
        News::Wakeup(Wakeup { what: What::Granted { .. }, .. }) => "news granted".to_owned(),
        News::Wakeup(wakeup) => format!("news {:?}", wakeup.what),
        News::LookAgain => "news look again".to_owned(),
        News::Queue(wakeup) => super::queue::told(wakeup)?.to_owned(),
    })
}

pub(crate) fn failed(error: &StoreError) -> String {
    format!("{:?} {error}", error.kind())
}

struct Servant {
    dir: PathBuf,
    inbox: Inbox,
    store: Arc<EmbeddedStore>,
    hand: Hand,
    children: Vec<Child>,
}

impl Servant {
    async fn obey(&mut self, order: &str) -> String {
        let words: Vec<&str> = order.split(' ').collect();
        match words[..] {
            ["acquire", name, limit, ticket] => self.acquire(name, limit, ticket, true).await,
            ["try", name, limit, ticket] => self.acquire(name, limit, ticket, false).await,
            ["brief", name, limit, ticket] => self.wait_briefly(name, limit, ticket).await,
            ["hold", name] => self.hold(name).await,
            ["age", name] => self.age(name).await,
            ["release", name, ticket] => {
                let ticket = self::ticket(ticket.parse().unwrap());
                self.ask(name, Request::Release { ticket, slots: None }).await
            }
            ["pause", name] => {
                let pause = Configure::Pause("full ".repeat(100_000));
                self.ask(name, Request::Configure(pause)).await
            }
            ["push", queue, text] => self.hand.push(queue, text.into()).await,
            ["most-files", most] => {
                let most = Rlimit { current: most.parse().ok(), ..getrlimit(Resource::Nofile) };
                setrlimit(Resource::Nofile, most).unwrap();
                "allowed".to_owned()
            }
            ["push-large", queue] => self.hand.push(queue, vec![0; 1 << 20]).await,
            ["work", queue, items] => self.hand.work(queue, items.parse().unwrap()).await,
            ["acknowledge", queue] => self.hand.acknowledge(queue).await,
            ["count", name] => self.count(name).await,
            ["idle", queue] => self.idle(queue).await,
            ["short-line", name, limit, ticket] => {
                self.wait_in_a_short_line(name, limit, ticket).await
            }
            ["child-on-record"] => {
                self.store.presence_child(std::process::id()).unwrap();
                "on record".to_owned()
            }
            ["child"] => self.start_child(),
            ["grandchild"] => self.start_grandchild(),
            ["fill"] => self.fill(),
            ["unfill"] => {
                fs::remove_file(self.dir.join("fill")).unwrap();
                "unfilled".to_owned()
            }
            _ => panic!("no such order: {order}"),
        }
    }

    async fn acquire(&self, name: &str, limit: &str, ticket: &str, waits: bool) -> String {
        let (limit, ticket) = (limit.parse().unwrap(), ticket.parse().unwrap());
        self.ask(name, acquire(ticket, limit, waits)).await
    }

    /// Stands in line with a place that lasts two seconds, and never renews it.
    async fn wait_briefly(&self, name: &str, limit: &str, ticket: &str) -> String {
        let (limit, ticket) = (limit.parse().unwrap(), ticket.parse().unwrap());
        let Request::Acquire(ask) = acquire(ticket, limit, true) else { unreachable!() };
        self.ask(name, Request::Acquire(Acquire { waiter_ttl: 2 * SECOND, ..ask })).await
    }

    /// Waits for a permit as programs do, and stops with all threads at the moment when it has the
    /// permit. When another process lets it go on, it reports whether it still holds.
    async fn hold(&self, name: &str) -> String {
        let seinpaal = Seinpaal::connect(&format!("file://{}", self.dir.display())).await.unwrap();
        let permit = seinpaal.semaphore(name).acquire().ttl(Duration::from_secs(1));
        let permit = permit.on_queued(|_| say("queued")).await.unwrap();
        // The stop reaches this thread when the kernel gets round to it. So the thread waits for
        // the signal to go on.
        let cont = SignalKind::from_raw(Signal::CONT.as_raw());
        let mut goes_on = signal(cont).unwrap();
        say("holds and stops");
        kill_process(getpid(), Signal::STOP).unwrap();
        goes_on.recv().await;
        if permit.is_held() { "held".to_owned() } else { "lost".to_owned() }
    }

    /// How many permits are held and how many tickets wait, by `list`.
    async fn count(&self, name: &str) -> String {
        let listed = self.store.list(name).await.unwrap();
        let seen = &listed.iter().find(|(listed, _)| listed.as_str() == name).unwrap().1;
        format!("{} {}", seen.held, seen.waiting_total)
    }

    async fn idle(&self, queue: &str) -> String {
        let listed = self.store.list_queues(queue).await.unwrap();
        listed.first().map_or(0, |(_, seen)| seen.idle).to_string()
    }

    /// Waits in line unless another ticket waits already.
    async fn wait_in_a_short_line(&self, name: &str, limit: &str, ticket: &str) -> String {
        let (limit, ticket) = (limit.parse().unwrap(), ticket.parse().unwrap());
        let Request::Acquire(ask) = acquire(ticket, limit, true) else { unreachable!() };
        let enqueue = Enqueue::Yes { max_waiting: Some(1) };
        self.ask(name, Request::Acquire(Acquire { enqueue, ..ask })).await
    }

    /// How many seconds the first holder has held.
    async fn age(&self, name: &str) -> String {
        match ask(&self.store, self.inbox, name, Request::Inspect { rows: 1 }).await {
            Ok(Reply::Snapshot(snapshot)) => (snapshot.holders[0].held_for / SECOND).to_string(),
            other => panic!("no holder: {other:?}"),
        }
    }

    async fn ask(&self, name: &str, request: Request) -> String {
        match ask(&self.store, self.inbox, name, request).await {
            Ok(Reply::Granted(_)) => "granted".to_owned(),
            Ok(Reply::Queued { .. }) => "queued".to_owned(),
            Ok(Reply::Busy { .. }) => "busy".to_owned(),
            Ok(Reply::Released { .. }) => "released".to_owned(),
            Ok(other) => format!("{other:?}"),
            Err(error) => failed(&error),
        }
    }

    /// Gives the descriptors to a child as its standard input and error, which it inherits.
    fn presence(&self) -> [OwnedFd; 2] {
        self.store.presence_fds().map(|fd| fd.try_clone_to_owned().unwrap())
    }

    fn start_child(&mut self) -> String {
        let mut sleep = Command::new("sleep");
        let [lock, socket] = self.presence();
        sleep.arg("1000").stdin(lock).stdout(Stdio::null()).stderr(socket);
        let child = sleep.spawn().unwrap();
        let pid = child.id();
        self.store.presence_child(pid).unwrap();
        self.children.push(child);
        pid.to_string()
    }

    /// A shell that leaves a program behind in the background.
    fn start_grandchild(&mut self) -> String {
        let mut shell = Command::new("sh");
        // A shell gives a background program another standard input, but leaves descriptor 3 as it
        // is.
        shell.args(["-c", "exec 3<&0; sleep 1000 > /dev/null & echo $!; wait"]);
        let [lock, socket] = self.presence();
        let mut child = shell.stdin(lock).stderr(socket).stdout(Stdio::piped()).spawn().unwrap();
        self.store.presence_child(child.id()).unwrap();
        let mut grandchild = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut grandchild).unwrap();
        let pids = format!("{} {}", child.id(), grandchild.trim());
        self.children.push(child);
        pids
    }

    fn fill(&self) -> String {
        let mut file = fs::File::create(self.dir.join("fill")).unwrap();
        while file.write_all(&[0; 4096]).is_ok() {}
        "filled".to_owned()
    }
}

/// The files in a directory, in order.
pub(crate) fn files(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).unwrap().map(|file| file.unwrap().file_name().into_string());
    let mut names: Vec<String> = names.map(Result::unwrap).collect();
    names.sort();
    names
}
