//! Chooses the store: from the flag, the file that a flag names, the environment, or the
//! configuration.

use std::{
    env,
    fmt::Display,
    fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use seinpaal::store::url::{DEFAULT_URL, RestartGuard, StoreUrl};
use serde::Deserialize;

use crate::{
    args::Global,
    exit::{Exit, Failure},
    output::{Voice, masked, text::age},
};

/// The default length of leases.
const USUAL_TTL: Duration = Duration::from_secs(30);
/// The bits of a file's mode that give rights to others.
const OTHERS: u32 = 0o077;

/// The variable that names the store.
pub(crate) const STORE_VARIABLE: &str = "SEINPAAL_STORE";
/// The origin of a store that nobody named.
const BY_DEFAULT: &str = "the default";
const SYSTEM_CONFIG: &str = "/etc/seinpaal.toml";

/// A store, and the place that named it. It has no `Debug`, because the text may contain a
/// password.
pub(crate) struct StoreChoice {
    /// The URL, as it was written.
    pub(crate) text: String,
    /// The URL without secrets, for display.
    pub(crate) url: StoreUrl,
    /// The place that named the URL.
    pub(crate) origin: String,
    /// Whether a flag named the URL.
    is_stated: bool,
    /// Whether other users can read the file, and it contains a password.
    is_exposed: bool,
}

impl StoreChoice {
    /// Returns the length of leases: the wanted one, or else the usual one, shortened to the
    /// longest that this store allows.
    pub(crate) fn ttl(&self, wanted: Option<Duration>) -> Duration {
        wanted.unwrap_or_else(|| self.longest_ttl().map_or(USUAL_TTL, |most| most.min(USUAL_TTL)))
    }

    /// Returns the longest lease that the store allows, if it has a bound.
    pub(crate) fn longest_ttl(&self) -> Option<Duration> {
        self.url.redis_options()?.restart_guard.map(RestartGuard::longest_ttl)
    }

    fn read_from(self, path: &Path) -> Self {
        let is_open =
            |file: fs::Metadata| file.is_file() && file.permissions().mode() & OTHERS != 0;
        let is_exposed = self.url.has_password() && fs::metadata(path).is_ok_and(is_open);
        Self { is_exposed, ..self }
    }

    /// Prints the store, and warnings about it.
    pub(crate) fn introduce(&self, voice: Voice) {
        voice.explain(format!("store {} ({})", self.url, self.origin));
        if env::var_os(STORE_VARIABLE).is_some_and(|text| text.is_empty()) && !self.is_stated {
            voice.say(format!(
                "{STORE_VARIABLE} is empty, so the store is {} ({}): unset it if that is meant",
                self.url, self.origin
            ));
        }
        if let Some(most) = self.longest_ttl().filter(|most| *most < USUAL_TTL) {
            let most = age(most);
            voice.explain(format!(
                "leases last {most} unless --ttl says less, because of restart-guard"
            ));
        }
        if self.is_exposed {
            voice.say(format!(
                "{}: it has a password in it and other users can read it: run `chmod 600` on it",
                self.origin
            ));
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigFile {
    store: Option<String>,
}

/// Chooses the store to use. A bad URL is a usage error on the command line, and a configuration
/// error elsewhere.
pub(crate) fn choose(global: &Global) -> Result<StoreChoice, Failure> {
    if let Some(text) = &global.store {
        let choice = parsed(text, "--store".to_owned(), Exit::Usage)?;
        return Ok(StoreChoice { is_stated: true, ..choice });
    }
    if let Some(path) = &global.store_file {
        let text = fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
        let choice = parsed(text.trim(), path.display().to_string(), Exit::Conflict)?;
        return Ok(StoreChoice { is_stated: true, ..choice.read_from(path) });
    }
    if let Some(text) = from_environment()? {
        return parsed(&text, STORE_VARIABLE.to_owned(), Exit::Conflict);
    }
    from_config_files(&config_files())
}

fn from_environment() -> Result<Option<String>, Failure> {
    match env::var(STORE_VARIABLE) {
        Ok(text) => Ok(Some(text).filter(|text| !text.is_empty())),
        Err(env::VarError::NotPresent) => Ok(None),
        Err(_) => Err(Failure::new(Exit::Conflict, "SEINPAAL_STORE is not UTF-8")),
    }
}

fn config_files() -> Vec<PathBuf> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|h| h.join(".config")));
    let user = home.map(|directory| directory.join("seinpaal/config.toml"));
    user.into_iter().chain([PathBuf::from(SYSTEM_CONFIG)]).collect()
}

fn from_config_files(paths: &[PathBuf]) -> Result<StoreChoice, Failure> {
    for path in paths {
        if let Some(text) = read_config(path)?.store {
            let choice = parsed(&text, path.display().to_string(), Exit::Conflict)?;
            return Ok(choice.read_from(path));
        }
    }
    parsed(DEFAULT_URL, BY_DEFAULT.to_owned(), Exit::Internal)
}

fn read_config(path: &Path) -> Result<ConfigFile, Failure> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound && !is_dangling(path) => {
            return Ok(ConfigFile::default());
        }
        // Without the file that names the fleet's store, this user's own store would let
        // everybody in.
        Err(error) => {
            let words = format!("{error}; make it readable, or name the store with --store");
            return Err(unreadable(path, &words));
        }
    };
    // The error's own text quotes the line, which may contain a password.
    toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(0, |span| text[..span.start].matches('\n').count()) + 1;
        let what = error.message().lines().next().unwrap_or_default();
        Failure::new(Exit::Conflict, format!("{}:{line}: {what}", path.display()))
    })
}

/// Returns whether the file, or a directory on the way to it, is a link that leads nowhere.
fn is_dangling(path: &Path) -> bool {
    let leads_nowhere = |at: &Path| at.is_symlink() && !at.exists();
    path.ancestors().any(leads_nowhere)
}

fn parsed(text: &str, origin: String, if_bad: Exit) -> Result<StoreChoice, Failure> {
    let url = StoreUrl::parse(text)
        .map_err(|error| Failure::new(if_bad, format!("{origin}: {error}")))?;
    if let Some(feature) = url.missing_feature() {
        return Err(Failure::new(if_bad, format!("{origin}: {}", without(feature))));
    }
    Ok(StoreChoice { text: text.to_owned(), url, origin, is_stated: false, is_exposed: false })
}

fn without(feature: &str) -> String {
    format!(
        "this program was built without the stores of the feature {feature:?}; \
         `cargo install --path crates/cli --features {feature}` builds one that has them"
    )
}

fn unreadable(path: &Path, error: &impl Display) -> Failure {
    // It may be a URL in the place of a file.
    let path = masked(&path.to_string_lossy());
    Failure::new(Exit::Conflict, format!("cannot read {path}: {error}"))
}
