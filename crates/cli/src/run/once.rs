//! `--once-per`: a job that is done is not run again.
//!
//! The record of a job that is done is a lease of a name of its own, which nobody renews. Every
//! store keeps it and forgets it by itself. `list` shows it, and `evict` removes it sooner. It is
//! written while the permits of NAME are still held, so no later holder can miss it.

use std::time::{Duration, SystemTime};

use seinpaal::{MAX_TTL, Name, PermitSet, Seinpaal};
use tokio::time::timeout;

use super::{Entrance, Signals, held::CmdGrant};
use crate::{
    args::RunArgs,
    exit::{Exit, Failure},
    output::text::age,
    settings::StoreChoice,
};

/// How long to wait for the store when CMD is gone, as for a release.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);

/// A job that is to be done once.
#[derive(Clone, Debug)]
pub(super) struct Once {
    /// The lease that says that the job is done.
    marker: Name,
    key: String,
    remember: Duration,
}

impl Once {
    /// The job of the flags, if they name one.
    pub(super) fn of(args: &RunArgs, choice: &StoreChoice) -> Result<Option<Self>, Failure> {
        let Some(once_per) = &args.once_per else { return Ok(None) };
        let key = once_per.key(SystemTime::now());
        let marker = Name::new(&format!("{} once-per {key}", args.entry.name));
        let marker = marker.map_err(|error| Failure::usage(format!("--once-per: {error}")))?;
        let remember = args.remember.unwrap_or(MAX_TTL);
        match choice.longest_ttl().filter(|most| *most < remember) {
            None => Ok(Some(Self { marker, key, remember })),
            Some(most) => Err(Failure::new(
                Exit::Conflict,
                format!(
                    "--once-per: the store's restart-guard limits what the store remembers to {}, and this command says \
                     {}; --remember {} is enough if no machine is later than that",
                    age(most),
                    age(remember),
                    age(most)
                ),
            )),
        }
    }

    /// Returns whether somebody has done it.
    pub(super) async fn is_done(
        &self,
        entrance: Entrance<'_>,
        signals: &mut Signals,
    ) -> Result<bool, Failure> {
        let snapshot = entrance.look_once(&self.marker, signals).await;
        let snapshot = snapshot.map_err(|failure| failure.about(entrance.subject))?;
        let is_done = snapshot.permits_held > 0;
        if is_done {
            let words =
                format!("{} was done already; not running it, as --once-per says", self.key);
            entrance.voice.explain(entrance.subject.line(&words));
        }
        Ok(is_done)
    }

    /// If NAME has several holders, a holder cannot know that no other one is doing the same job.
    pub(super) fn check_alone(grants: &[CmdGrant]) -> Result<(), Failure> {
        let first = grants.first();
        match first.filter(|grant| grant.permits < grant.limit) {
            None => Ok(()),
            Some(grant) => Err(Failure::new(
                Exit::Conflict,
                format!(
                    "--once-per: the limit is {}, so other runs may do the same job at the same time; give each job a name \
                     of its own, with the limit 1, and take the common name with --also",
                    grant.limit
                ),
            )),
        }
    }

    /// Notes that it is done. The permits of NAME must be held still.
    pub(super) async fn note(&self, seinpaal: &Seinpaal) -> Result<(), String> {
        let noted = timeout(ANSWER_TIMEOUT, async {
            let marker = seinpaal.semaphore(&self.marker).limit(1);
            // If somebody else holds the marker, the job is noted already.
            let marker = marker.try_acquire().ttl(self.remember).label("done", &self.key).await;
            match marker.map_err(|error| error.to_string())? {
                Some(permit) => permit.detach().await.map(drop).map_err(|error| error.to_string()),
                None => Ok(()),
            }
        });
        let why = match noted.await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => error,
            Err(_) => "the store does not answer".to_owned(),
        };
        Err(format!("cannot note that {} was done ({why}); it may be run again", self.key))
    }
}

/// Releases a lease that is not needed.
pub(super) async fn release(permits: Option<PermitSet>) {
    if let Some(permits) = permits {
        // If the release is lost, the lease ends by itself; nothing was done under it.
        let _ = timeout(ANSWER_TIMEOUT, permits.release()).await;
    }
}
