//! `serve`: serves pages and metrics on a port.

use crate::{
    args::{Global, serve::ServeArgs},
    exit::{Exit, Failure},
    output::Voice,
};

/// Serves until a signal comes.
#[cfg(feature = "serve")]
pub(super) fn serve(global: &Global, args: &ServeArgs, voice: Voice) -> Result<Exit, Failure> {
    with_pages::serve(global, args, voice)
}

/// Fails, and says how to build a program that has `serve`.
#[cfg(not(feature = "serve"))]
pub(super) fn serve(_global: &Global, _args: &ServeArgs, _voice: Voice) -> Result<Exit, Failure> {
    Err(Failure::usage(
        "this program was built without `serve`; `cargo install --path crates/cli --features serve` builds one that has it",
    ))
}

#[cfg(feature = "serve")]
mod with_pages {
    use std::time::Duration;

    use rustix::process::Signal;
    use seinpaal_serve::{Certificate, Dashboard, Options, StreamRoom, Tokens};
    use tokio::{net::TcpListener, time::timeout};

    use super::*;
    use crate::{
        connection::{connect, on_runtime},
        output::NamedStore,
        run::{Signals, ends_waiting, watch_store},
        settings,
    };

    /// How long the changes under way may take after a signal.
    const LAST_CHANGES: Duration = Duration::from_secs(5);

    pub(super) fn serve(global: &Global, args: &ServeArgs, voice: Voice) -> Result<Exit, Failure> {
        let mut options = options(args)?;
        let room = room(args, voice);
        options.streams = room.streams;
        let certificate = certificate(args)?;
        let choice = settings::choose(global)?;
        let subject = NamedStore::new("", &choice.url);
        let ended = on_runtime(async {
            let mut signals = Signals::listen()?;
            let listener = listen(args).await?;
            let seinpaal =
                connect(&choice, None, "seinpaal serve", Duration::ZERO, voice, &mut signals)
                    .await?;
            let dashboard = Dashboard::new(seinpaal.clone(), options)
                .map_err(|error| Failure::usage(error.to_string()))?;
            announce(&listener, args, voice)?;
            let serving = async {
                let (router, most) = (dashboard.router(), room.connections);
                match certificate {
                    None => seinpaal_serve::serve(listener, router, most).await,
                    Some(own) => seinpaal_serve::serve_tls(listener, router, most, own).await,
                }
            };
            let exit = tokio::select! {
                exit = until_ended(&mut signals) => exit,
                never = watch_store(&seinpaal, subject, voice) => never,
                served = serving => served.map(|()| Exit::Success).map_err(Failure::internal)?,
            };
            finish(&dashboard, &mut signals).await;
            Ok(exit)
        });
        ended.map_err(|failure| failure.about(subject))
    }

    /// Makes room for the wanted number of streams, or for as many as the system allows.
    fn room(args: &ServeArgs, voice: Voice) -> StreamRoom {
        let (room, wanted) = (StreamRoom::make(args.streams as usize), args.streams);
        if room.streams < wanted as usize {
            voice.say(format!(
                "the system lets this program open so few files that {} streams are kept open and not {wanted}; raise that limit (ulimit -n, or LimitNOFILE= of systemd)",
                room.streams
            ));
        }
        room
    }

    fn options(args: &ServeArgs) -> Result<Options, Failure> {
        let tokens = args.token_file.as_ref().map(|path| {
            Tokens::read(path).map_err(|error| {
                Failure::new(Exit::Conflict, format!("{}: {error}", path.display()))
            })
        });
        let tokens = tokens.transpose()?;
        if tokens.is_none() && !args.listen.ip().is_loopback() {
            return Err(Failure::usage(format!(
                "--listen {}: other machines can reach this address, so --token-file is required",
                args.listen
            )));
        }
        // The address that `serve` listens on counts as one of its host names.
        let own = match args.listen {
            address if address.is_ipv6() => format!("[{}]", address.ip()),
            address => address.ip().to_string(),
        };
        Ok(Options {
            base_path: args.base_path.clone(),
            payloads: !args.hide_payloads,
            allow_actions: args.allow_actions,
            api: args.api,
            tokens,
            hosts: args.host.iter().cloned().chain([own]).collect(),
            audit: args.audit.clone(),
            metrics_of: args.metrics_of.clone(),
            ..Options::default()
        })
    }

    fn certificate(args: &ServeArgs) -> Result<Option<Certificate>, Failure> {
        let files = args.tls_cert.as_deref().zip(args.tls_key.as_deref());
        let read = files.map(|(chain, key)| Certificate::read(chain, key)).transpose();
        read.map_err(|error| Failure::new(Exit::Conflict, error.to_string()))
    }

    async fn listen(args: &ServeArgs) -> Result<TcpListener, Failure> {
        TcpListener::bind(args.listen).await.map_err(|error| {
            let words = format!(
                "cannot listen on {}: {error}; choose another address with --listen",
                args.listen
            );
            Failure::new(Exit::Unreachable, words)
        })
    }

    fn announce(listener: &TcpListener, args: &ServeArgs, voice: Voice) -> Result<(), Failure> {
        let address = listener.local_addr().map_err(Failure::internal)?;
        let scheme = if args.tls_cert.is_some() { "https" } else { "http" };
        voice.say(format!("serving on {scheme}://{address}{}/", args.base_path));
        Ok(())
    }

    /// Waits until the changes under way have ended, the time is up, or another signal comes. The
    /// audit lists the remaining changes with an unknown outcome.
    async fn finish(dashboard: &Dashboard, signals: &mut Signals) {
        tokio::select! {
            _ = timeout(LAST_CHANGES, dashboard.changes_are_noted()) => {}
            _ = until_ended(signals) => {}
        }
    }

    /// Waits for a signal that ends the program. A signal is the normal end of `serve`, so INT and
    /// TERM are a success.
    async fn until_ended(signals: &mut Signals) -> Exit {
        loop {
            let signal = signals.next().await;
            if ends_waiting(signal) {
                return Exit::Success;
            }
            if signal == Signal::TSTP {
                signals.stop(signal.as_raw());
            }
        }
    }
}
