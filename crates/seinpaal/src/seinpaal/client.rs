//! The description of a client, which every request of its connection carries.

use std::sync::Arc;

use seinpaal_proto::{About, RenewalPromise};

use crate::error::BadSetting;

/// The description of a client, which every request of its connection carries.
#[derive(Debug)]
pub(crate) struct RequestMaker {
    unlabelled: About,
    /// The description in the form that stores keep.
    encoded: Arc<str>,
}

impl RequestMaker {
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
        let unlabelled = About::new(name, host, pid);
        let encoded = unlabelled.encode().into();
        Self { unlabelled, encoded }
    }

    /// The description of a request for permits, in the form that stores keep. All requests without
    /// labels share one text.
    pub(crate) fn about_with(
        &self,
        labels: &[(String, String)],
        promise: RenewalPromise,
    ) -> Arc<str> {
        let mark = promise.mark();
        if labels.is_empty() && mark.is_empty() {
            return Arc::clone(&self.encoded);
        }
        (self.about(labels) + &mark).into()
    }

    /// The description of a request with these labels, in the form that stores keep.
    pub(crate) fn about(&self, labels: &[(String, String)]) -> String {
        if labels.is_empty() {
            return self.encoded.to_string();
        }
        self.unlabelled.clone().with_labels(labels.to_vec()).encode()
    }
}

pub(super) fn executable() -> String {
    let path = std::env::current_exe().ok();
    let name = path.as_deref().and_then(|path| path.file_name());
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
