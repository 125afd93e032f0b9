//! Measures what a history leaves behind: counts by the scripts, and the name's keys.

use super::{Bench, Event, KEY, Model, next_step};

impl Bench {
    /// Runs a history, and returns how many of its calls the scripts have counted.
    pub(in super::super) async fn tallied(&mut self, history: &[Event]) -> usize {
        self.begin_anew().await;
        let mut model = Model::default();
        for (i, event) in history.iter().enumerate() {
            let next = next_step(&history[i + 1..]);
            assert_eq!(self.compare(&mut model, event, next).await, None);
        }
        let tally: Option<usize> =
            redis::cmd("GET").arg("tally").query_async(&mut self.ears).await.unwrap();
        tally.unwrap_or(0)
    }

    /// Returns how often the server has executed this command since its statistics were reset.
    pub(in super::super) async fn calls_of(&mut self, command: &str) -> u64 {
        let mut info = redis::cmd("INFO");
        let all: String = info.arg("commandstats").query_async(&mut self.ears).await.unwrap();
        let row = all.lines().find_map(|line| line.strip_prefix(&format!("cmdstat_{command}:")));
        row.map_or(0, |row| row.split(['=', ',']).nth(1).unwrap().parse().unwrap())
    }

    /// For how many milliseconds the name stays after a history.
    pub(in super::super) async fn left_after(&mut self, history: &[Event]) -> i64 {
        assert_eq!(self.tallied(history).await, 0);
        redis::cmd("PTTL").arg(KEY).query_async(&mut self.ears).await.unwrap()
    }

    /// Runs a history, and returns the length of the value that it leaves.
    pub(in super::super) async fn length_after(&mut self, history: &[Event]) -> usize {
        assert_eq!(self.tallied(history).await, 0);
        redis::cmd("HSTRLEN").arg(KEY).arg("h").query_async(&mut self.ears).await.unwrap()
    }
}
