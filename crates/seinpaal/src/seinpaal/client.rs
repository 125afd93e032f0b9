//! What every request of a connection says of its maker.

use seinpaal_proto::About;

use crate::error::BadSetting;

/// What every request of a connection says of its maker.
#[derive(Debug)]
pub(crate) struct Client {
    unlabelled: About,
    /// The same as stores keep it.
    encoded: String,
}

impl Client {
    pub(super) fn new(name: Option<String>) -> Result<Self, BadSetting> {
        let name = name.unwrap_or_else(executable);
        if name.chars().any(char::is_control) {
            return Err(BadSetting::Label(name));
        }
        Ok(Self::own(name))
    }

    pub(super) fn own(name: String) -> Self {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let pid = std::process::id();
        let unlabelled = About { client: name, host, pid, labels: Vec::new() };
        let encoded = unlabelled.encode();
        Self { unlabelled, encoded }
    }

    /// What stores keep of a request with these labels.
    pub(crate) fn about(&self, labels: &[(String, String)]) -> String {
        if labels.is_empty() {
            return self.encoded.clone();
        }
        About { labels: labels.to_vec(), ..self.unlabelled.clone() }.encode()
    }
}

pub(super) fn executable() -> String {
    let path = std::env::current_exe().ok();
    let name = path.as_deref().and_then(|path| path.file_name());
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
