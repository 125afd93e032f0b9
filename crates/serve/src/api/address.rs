//! The parameters of addresses, as the document describes them.

use serde::Deserialize;
use utoipa::IntoParams;

/// The name of a semaphore, lock or queue.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct OfName {
    /// The name of the semaphore, lock or queue: 1 to 512 bytes without control characters.
    #[param(min_length = 1, max_length = 512, pattern = r"^[^\x00-\x1f\x7f-\x9f]+$")]
    pub(super) name: String,
}

/// A ticket of a name.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct OfTicket {
    /// The name of the semaphore, lock or queue: 1 to 512 bytes without control characters.
    #[param(min_length = 1, max_length = 512, pattern = r"^[^\x00-\x1f\x7f-\x9f]+$")]
    pub(super) name: String,
    /// The ticket, as `acquire` answered it.
    #[param(pattern = "^[0-9a-f]{32}$")]
    pub(super) ticket: String,
}

/// An item of a queue.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct OfItem {
    /// The name of the semaphore, lock or queue: 1 to 512 bytes without control characters.
    #[param(min_length = 1, max_length = 512, pattern = r"^[^\x00-\x1f\x7f-\x9f]+$")]
    pub(super) name: String,
    /// The number of the item, as `push` answered it.
    #[param(minimum = 0, maximum = 9_007_199_254_740_992_u64)]
    pub(super) item: u64,
}

/// A delivery: an item in the hands of a worker.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct OfDelivery {
    /// The id of the delivery, as `pop` answered it.
    #[param(pattern = "^[0-9a-f]{32}$")]
    pub(super) delivery: String,
}

/// The header that makes repetitions of a request get the same answer. [`replay`](crate::replay)
/// reads it.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[allow(dead_code, reason = "only the document reads it")]
pub(super) struct Keyed {
    /// A key of 1 to 200 printable characters, new for each request that is not a repetition.
    #[param(rename = "idempotency-key", min_length = 1, max_length = 200)]
    key: Option<String>,
}
