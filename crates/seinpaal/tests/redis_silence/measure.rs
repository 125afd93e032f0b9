//! Temporary: counts of one task.
use std::{fs, time::Instant};
fn counts() -> (u64, u64, u64) {
    let (mut vol, mut invol, mut cpu) = (0, 0, 0);
    for task in fs::read_dir("/proc/self/task").unwrap().flatten() {
        let text = fs::read_to_string(task.path().join("status")).unwrap_or_default();
        for line in text.lines() {
            if let Some(n) = line.strip_prefix("voluntary_ctxt_switches:") { vol += n.trim().parse::<u64>().unwrap(); }
            if let Some(n) = line.strip_prefix("nonvoluntary_ctxt_switches:") { invol += n.trim().parse::<u64>().unwrap(); }
        }
        let sched = fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
        cpu += sched.split(' ').next().and_then(|n| n.parse::<u64>().ok()).unwrap_or(0);
    }
    (vol, invol, cpu)
}
#[tokio::test(flavor = "current_thread")]
async fn measure() {
    let var = |n: &str| std::env::var(n).unwrap();
    let server = seinpaal_rig::RedisServer::start();
    let (kind, url, n, rounds) = (&var("KIND"), &(if std::env::var_os("TCP").is_some() { server.url("") } else { server.socket_url("") }), var("N").parse::<u64>().unwrap(), var("ROUNDS").parse::<u32>().unwrap());
    let raw = redis::Client::open(url.as_str()).unwrap();
    let mut connection = raw.get_multiplexed_async_connection().await.unwrap();
    let builder = seinpaal::Seinpaal::builder(url);
    let ours = builder.clone().connect().await.unwrap().semaphore("m").limit(4);
    let away = builder.callers_have_io().connect().await.unwrap().semaphore("m2").limit(4);
    let script = redis::Script::new("return redis.call('get', KEYS[1])");
    let mut r = 0;
    for kind in kind.split(',').cycle().take(kind.split(',').count() * rounds as usize) {
        r += 1;
        let (before, began) = (counts(), Instant::now());
        for _ in 0..n {
            match kind {
                "raw" => for _ in 0..2 { let _: Option<String> = script.key("x").invoke_async(&mut connection).await.unwrap(); },
                "home" => ours.acquire().await.unwrap().release().await.unwrap(),
                _ => away.acquire().await.unwrap().release().await.unwrap(),
            }
        }
        let after = counts();
        let mut names = String::new();
        for task in fs::read_dir("/proc/self/task").unwrap().flatten() {
            let name = fs::read_to_string(task.path().join("comm")).unwrap_or_default();
            let text = fs::read_to_string(task.path().join("status")).unwrap_or_default();
            let n: u64 = text.lines().filter_map(|l| l.split_once("_ctxt_switches:")).map(|(_, n)| n.trim().parse::<u64>().unwrap()).sum();
            names += &format!("{}={n} ", name.trim());
        }
        println!("{r} {names}");
        println!("{r} {kind} voluntary {:.2} involuntary {:.2} cpu_us {:.1} wall_us {:.1}", (after.0-before.0) as f64 / n as f64, (after.1-before.1) as f64 / n as f64, (after.2-before.2) as f64 / n as f64 / 1e3, began.elapsed().as_secs_f64()*1e6/n as f64);
    }
}
