//! The mistake that a process makes.

use std::sync::Once;

use seinpaal_proto::planted::{Mistake, choose};

/// The variable that names the mistake of this process.
pub(crate) const VARIABLE: &str = "SEINPAAL_PLANTED";

/// Makes the mistake that the environment names, if it names one, and prints its name.
///
/// # Panics
/// If there is no such mistake.
pub(crate) fn choose_from_environment() {
    static SAID: Once = Once::new();
    let name = std::env::var(VARIABLE).unwrap_or_default();
    let mistake = Mistake::ALL.iter().copied().find(|mistake| mistake.name() == name);
    assert!(mistake.is_some() || name.is_empty(), "{VARIABLE}={name}: there is no such mistake");
    choose(mistake);
    SAID.call_once(|| match mistake {
        Some(mistake) => eprintln!("seinpaal: BUILT TO FAIL: {}", mistake.says()),
        None => eprintln!("seinpaal: BUILT TO FAIL, and no mistake is chosen"),
    });
}
