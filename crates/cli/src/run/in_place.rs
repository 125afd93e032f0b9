//! Starts CMD without a copy of this process.

use std::{
    collections::BTreeMap,
    env,
    ffi::{OsStr, OsString},
    io,
};

use seinpaal::store::ChildRecord;

use super::{
    raw,
    setup::{CmdStart, setup, sign},
};
use crate::settings::STORE_VARIABLE;

/// Starts CMD and returns its process id. This is no use if a guard has to hear of CMD before it
/// begins, because this thread stands still until CMD has begun.
pub(super) fn start(start: &CmdStart<'_>, record: Option<ChildRecord>) -> io::Result<i32> {
    let mut variables: BTreeMap<OsString, OsString> = env::vars_os().collect();
    for key in start.withheld {
        variables.remove(OsStr::new(key));
    }
    let ours = start.variables.iter().map(|(key, value)| ((*key).into(), value.into()));
    variables.extend(ours);
    if start.hides_store {
        variables.remove(OsStr::new(STORE_VARIABLE));
    }
    let image = raw::start::Image::new(start.program, start.command, variables)?;
    let mut setup = setup(start, move |parent| sign(record.as_ref(), parent));
    raw::start::start(&image, &mut || {
        rustix::process::setpgid(None, None)?;
        setup()
    })
}
