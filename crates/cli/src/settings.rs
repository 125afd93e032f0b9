//! Which store to use: the flag, the file that a flag names, the environment, the configuration.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use seinpaal::store::url::{DEFAULT_URL, StoreUrl};
use serde::Deserialize;

use crate::{
    args::Global,
    exit::{Exit, Failure},
};

const SYSTEM_CONFIG: &str = "/etc/seinpaal.toml";

/// A store, and who named it. Without `Debug`, because the text may have a password in it.
pub(crate) struct Choice {
    /// The URL, as it was written.
    pub(crate) text: String,
    /// The same without secrets, to be shown.
    pub(crate) url: StoreUrl,
    /// Who named it.
    pub(crate) origin: String,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    store: Option<String>,
}

/// The store to use. A bad URL is a usage error on the command line, and a configuration error elsewhere.
pub(crate) fn choose(global: &Global) -> Result<Choice, Failure> {
    if let Some(text) = &global.store {
        return parsed(text, "--store".to_owned(), Exit::Usage);
    }
    if let Some(path) = &global.store_file {
        let text = fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
        return parsed(text.trim(), path.display().to_string(), Exit::Conflict);
    }
    if let Some(text) = from_environment()? {
        return parsed(&text, "SEINPAAL_STORE".to_owned(), Exit::Conflict);
    }
    from_config_files(&config_files())
}

fn from_environment() -> Result<Option<String>, Failure> {
    match env::var("SEINPAAL_STORE") {
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

fn from_config_files(paths: &[PathBuf]) -> Result<Choice, Failure> {
    for path in paths {
        if let Some(text) = read_config(path)?.store {
            return parsed(&text, path.display().to_string(), Exit::Conflict);
        }
    }
    parsed(DEFAULT_URL, "the default".to_owned(), Exit::Internal)
}

fn read_config(path: &Path) -> Result<Config, Failure> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        // Not there, or in a directory that is none of our business (`sudo -u` keeps HOME).
        Err(_) if fs::metadata(path).is_err() => return Ok(Config::default()),
        Err(error) => return Err(unreadable(path, &error)),
    };
    // The error's own text form quotes the line, which may have a password in it.
    toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(0, |span| text[..span.start].matches('\n').count()) + 1;
        let what = error.message().lines().next().unwrap_or_default();
        Failure::new(Exit::Conflict, format!("{}:{line}: {what}", path.display()))
    })
}

fn parsed(text: &str, origin: String, if_bad: Exit) -> Result<Choice, Failure> {
    match StoreUrl::parse(text) {
        Ok(url) => Ok(Choice { text: text.to_owned(), url, origin }),
        Err(error) => Err(Failure::new(if_bad, format!("{origin}: {error}"))),
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(Exit::Conflict, format!("cannot read {}: {error}", path.display()))
}
