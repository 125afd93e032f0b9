//! Going in under the permit that a `run` around us holds.

use seinpaal::{Holder, Kind, Name, Snapshot};
use tokio::time::sleep;

use super::{Entrance, HURRY, StoreNews, StoreVigil, heed, unreachable};
use crate::{
    exit::{Exit, Failure},
    output::NamedStore,
    run::{
        Signals,
        held::{Claim, CmdGrant, HeldAs, HeldName, claim},
        tie::Tie,
    },
};

/// A name that is wanted, and how.
#[derive(Clone, Copy)]
struct NameWant<'a> {
    name: &'a Name,
    kind: HeldAs,
    permits: u32,
    limit: Option<u32>,
}

impl Entrance<'_> {
    /// Which of the names the runs around us hold for us, as the store confirms. Where nobody
    /// around us says so, the store is not asked.
    pub(in crate::run) async fn ties(
        self,
        held: &[HeldName],
        signals: &mut Signals,
    ) -> Result<Vec<Tie>, Failure> {
        let mut ties = Vec::new();
        for want in self.wants() {
            let subject = NamedStore { name: want.name, ..self.subject };
            if let Some(claim) = claim(held, want.name) {
                let tie = self.tie(want, claim, signals).await;
                ties.extend(tie.map_err(|failure| failure.about(subject))?);
            }
        }
        Ok(ties)
    }

    fn wants(&self) -> Vec<NameWant<'_>> {
        let first = NameWant {
            name: &self.entry.name,
            kind: HeldAs::of(self.entry),
            permits: HeldAs::of(self.entry).permits(self.entry.permits),
            limit: self.entry.limit,
        };
        let also = self.also.iter().chain(self.within).map(|(name, permits)| NameWant {
            name,
            kind: HeldAs::Semaphore,
            permits: *permits,
            limit: None,
        });
        let wants: Vec<_> = [first].into_iter().chain(also).collect();
        let is_twice =
            |want: &NameWant<'_>| wants.iter().filter(|w| w.name == want.name).count() > 1;
        // A repeated name is refused, and by the usual way in.
        if wants.iter().any(is_twice) { Vec::new() } else { wants }
    }

    async fn tie(
        self,
        want: NameWant<'_>,
        claim: Claim,
        signals: &mut Signals,
    ) -> Result<Option<Tie>, Failure> {
        let snapshot = self.look_once(want.name, signals).await?;
        let is_meant =
            |holder: &&Holder| holder.ticket == claim.ticket && holder.about.pid == claim.pid;
        let Some(holder) = snapshot.holders.iter().find(is_meant) else { return Ok(None) };
        if !is_lock_of(want.kind, snapshot.kind) {
            return Ok(None);
        }
        self.check_permits(want, holder.slots.count())?;
        self.check_limit(want, &snapshot)?;
        let grant = granted(want.name, holder, &snapshot);
        self.check_slots(want, &grant.slot_names)?;
        let pid = claim.pid;
        self.voice
            .explain(format!("{}: held by the run around this one (process {pid})", want.name));
        Tie::new(claim, grant)
    }

    /// Asks the store once, for as long as this may wait for it.
    pub(in crate::run) async fn look_once(
        self,
        name: &Name,
        signals: &mut Signals,
    ) -> Result<Snapshot, Failure> {
        let semaphore = self.seinpaal.semaphore(name);
        let mut looking = Box::pin(semaphore.snapshot());
        let mut vigil = StoreVigil::keep(self.seinpaal);
        let mut late = Box::pin(async {
            match self.entry.wait {
                Some(wait) if !self.is_in_a_hurry() => sleep(wait).await,
                _ => std::future::pending().await,
            }
        });
        let mut is_told = false;
        loop {
            tokio::select! {
                biased;
                signal = signals.next() => heed(signals, signal)?,
                snapshot = &mut looking => return Ok(snapshot?),
                () = &mut late => return Err(self.silent()),
                news = vigil.next() => match news {
                    StoreNews::Full(error) => return Err(error.into()),
                    StoreNews::Silent(outage) if self.is_in_a_hurry() && outage.lasted >= HURRY => {
                        return Err(unreachable(&outage));
                    }
                    StoreNews::Silent(outage) => self.tell_silence(&outage, &mut is_told),
                    StoreNews::Back => {}
                },
            }
        }
    }

    fn check_permits(self, want: NameWant<'_>, held: u32) -> Result<(), Failure> {
        if want.permits <= held {
            return Ok(());
        }
        let words = if want.kind == HeldAs::Exclusive {
            "the run around this one holds the name --shared, and this one asks for --exclusive; take the name \
             --exclusive there, or run this command after it"
                .to_owned()
        } else {
            format!(
                "the run around this one holds {held} permits, and this one asks for {}; ask for no more with -p, or take \
                 others with --no-reenter",
                want.permits
            )
        };
        Err(Failure::new(Exit::Conflict, words))
    }

    /// The run around this one keeps the slots that it has.
    fn check_slots(self, want: NameWant<'_>, held: &[String]) -> Result<(), Failure> {
        let is_of_this = want.name == &self.entry.name;
        let missing = self.entry.slots.iter().find(|slot| is_of_this && !held.contains(slot));
        let Some(missing) = missing else { return Ok(()) };
        let words = format!(
            "the run around this one does not hold the slot {missing:?}, which this one asks for; --no-reenter waits for \
             that slot"
        );
        Err(Failure::new(Exit::Conflict, words))
    }

    fn check_limit(self, want: NameWant<'_>, snapshot: &Snapshot) -> Result<(), Failure> {
        let Some(stated) = want.limit.filter(|limit| *limit != snapshot.limit) else {
            return Ok(());
        };
        let in_force = snapshot.limit;
        if snapshot.is_pinned || self.entry.adopt_limit {
            self.voice.explain(format!("{}: the limit is {in_force}, not {stated}", want.name));
            return Ok(());
        }
        let remedy = if self.entry.set_limit {
            "`seinpaal limit` sets another"
        } else {
            "--adopt-limit goes in all the same"
        };
        Err(Failure::new(
            Exit::Conflict,
            format!(
                "other clients, the run around this one among them, say the limit is {in_force}, and this one says \
                 {stated}; -j {in_force} or {remedy}"
            ),
        ))
    }
}

/// What the run around us was granted.
fn granted(name: &Name, holder: &Holder, snapshot: &Snapshot) -> CmdGrant {
    CmdGrant {
        name: name.as_str().to_owned(),
        ticket: holder.ticket,
        fence: holder.fence,
        slots: holder.slots.clone(),
        slot_names: snapshot.slot_names.of(&holder.slots).iter().map(str::to_owned).collect(),
        permits: holder.slots.count(),
        limit: snapshot.limit,
    }
}

/// Another kind is refused by the usual way in.
fn is_lock_of(wanted: HeldAs, there: Option<Kind>) -> bool {
    let wanted = match wanted {
        HeldAs::Semaphore => Kind::Semaphore,
        HeldAs::Shared | HeldAs::Exclusive => Kind::RwLock,
    };
    there == Some(wanted)
}
