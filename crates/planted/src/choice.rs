//! The mistake that a process makes.

use std::sync::Once;

use seinpaal_proto::planted::{Bug, choose};

/// The variable that names the mistake of this process.
pub(crate) const VARIABLE: &str = "SEINPAAL_PLANTED";

/// Makes the mistake that the environment names, if it names one, and prints its name.
///
/// # Panics
/// If no mistake has the name in the variable.
pub(crate) fn choose_from_environment() {
    static SAID: Once = Once::new();
    let name = std::env::var(VARIABLE).unwrap_or_default();
    let bug = Bug::ALL.iter().copied().find(|bug| bug.name() == name);
    assert!(bug.is_some() || name.is_empty(), "{VARIABLE}={name}: there is no such mistake");
    choose(bug);
    SAID.call_once(|| match bug {
        Some(bug) => eprintln!("seinpaal: BUILT TO FAIL: {}", bug.says()),
        None => eprintln!("seinpaal: BUILT TO FAIL, and no mistake is chosen"),
    });
}
