//! `top`: all names of a store, or one of them, on a terminal and as they change.
//!
//! ```text
//!   watch (asks the store) ─┐
//!   keys (reads them)      ─┼─▶ the loop here ─▶ view (pure) ─▶ screen
//!   signals                ─┘
//! ```
//! docs/decisions/operating.md says why there is no library for the terminal.

mod deed;
mod keys;
mod prompt;
mod screen;
mod state;
mod view;
mod watch;

use std::{
    io::{self, IsTerminal},
    time::Duration,
};

use rustix::process::Signal;
use seinpaal::Seinpaal;

use crate::{
    args::{Global, TopArgs},
    command::list,
    connection::{connect, on_runtime},
    exit::{Exit, Failure},
    output::{NamedStore, Voice, table::may_be_bold},
    run::{Signals, ends_waiting},
    settings,
};
use screen::TopScreen;
pub(crate) use state::arrange;
use state::{KeyRequest, TopState};
use watch::StoreWatch;

/// How often the view is drawn without a new reading, because the ages on it grow.
const REDRAW: Duration = Duration::from_secs(1);

/// Draws until the user leaves, or prints one table.
pub(crate) fn top(global: &Global, args: &TopArgs, voice: Voice) -> Result<Exit, Failure> {
    if args.once || global.json || !io::stdout().is_terminal() {
        return list::once(global, &args.prefix, args.sort, voice);
    }
    let choice = settings::choose(global)?;
    let subject = NamedStore::new("", &choice.url);
    let ended = on_runtime(async {
        let mut signals = Signals::listen()?;
        let seinpaal =
            connect(&choice, None, "seinpaal top", Duration::ZERO, voice, &mut signals).await?;
        let state = TopState::new(choice.url.to_string(), args.sort, args.interval);
        live(&seinpaal, args, state, &mut signals).await
    });
    ended.map_err(|failure| failure.about(subject))
}

async fn live(
    seinpaal: &Seinpaal,
    args: &TopArgs,
    mut state: TopState,
    signals: &mut Signals,
) -> Result<Exit, Failure> {
    let mut watch = StoreWatch::start(seinpaal, &args.prefix, args.interval);
    let mut keys = keys::listen();
    let mut screen = TopScreen::enter()?;
    let mut clock = tokio::time::interval(REDRAW);
    let (telling, mut told) = tokio::sync::mpsc::unbounded_channel();
    loop {
        screen.draw(&view::lines(&mut state, screen.size()), may_be_bold());
        tokio::select! {
            signal = signals.next() => if let Some(exit) = heed(&mut screen, signals, signal)? {
                return Ok(exit);
            },
            key = keys.next() => match state.press(key) {
                KeyRequest::Leave => return Ok(Exit::Success),
                KeyRequest::Look => watch.look_at(state.look.clone()),
                KeyRequest::Do(name, deed) => {
                    let (seinpaal, telling) = (seinpaal.clone(), telling.clone());
                    // If the user leaves before the answer comes, the action may or may not have
                    // been executed.
                    tokio::spawn(async move { telling.send(deed.done(&seinpaal, &name).await) });
                }
                KeyRequest::Nothing => {}
            },
            seen = watch.next() => state.take(seen),
            Some(words) = told.recv() => {
                state.tell(words);
                watch.look_at(state.look.clone());
            }
            _ = clock.tick() => {}
        }
    }
}

/// Obeys signals that end or stop the program. A change of size is noticed at the next drawing.
fn heed(
    screen: &mut TopScreen,
    signals: &Signals,
    signal: Signal,
) -> Result<Option<Exit>, Failure> {
    if ends_waiting(signal) {
        return Ok(Some(Exit::signal(signal.as_raw())));
    }
    if signal == Signal::TSTP {
        screen.leave();
        signals.stop(signal.as_raw());
        screen.reenter()?;
    }
    Ok(None)
}
