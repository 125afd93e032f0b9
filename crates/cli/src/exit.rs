//! The exit statuses and their meanings. Scripts depend on them.

use seinpaal::{
    AdminError, ConnectError, PushError, QueueError, WorkError,
    store::{StoreError, StoreErrorKind},
};

use crate::output::NamedStore;

/// An end of the program.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Exit {
    /// Success.
    Success,
    /// A status that this program passes on or makes: that of CMD or of a keeper, 128+n for a
    /// signal n that ended CMD or our own wait, or the 1 of `doctor`.
    Status(u8),
    /// No permit was acquired: 75, or the status that `-E` names.
    NotAcquired(u8),
    /// Bad flags or values.
    Usage,
    /// The store cannot be reached or has no room: try again later.
    Unreachable,
    /// A mistake in this program, or damaged data in the store.
    Internal,
    /// The store refuses this user.
    Forbidden,
    /// Another limit is stored, or the configuration cannot work.
    Conflict,
    /// The lease was lost and CMD stopped, or the given ticket is gone.
    Lost,
    /// `--max-hold` was reached.
    MaxHold,
    /// CMD was found, but cannot be executed.
    CannotExecute,
    /// CMD was not found.
    NotFound,
}

/// The status if no permit was acquired, unless `-E` names another.
pub(crate) const NOT_ACQUIRED: u8 = 75;

/// The table for `--help` and the manual pages.
pub(crate) const TABLE: &str = "\
Exit status:
  0        done (run: CMD's own, or 128+n if signal n ended it)
  1        doctor: a promise is at risk
  64       bad flags or values
  69       the store cannot be reached, or has no room
  70       internal error, or damaged data in the store
  75       not acquired: busy, timed out, or too many waiters
           (-E sets another status)
  77       the store refuses this user
  78       another limit is stored, more permits wanted than exist,
           or bad configuration
  122      the lease was lost and CMD stopped;
           renew, release, evict, show --why: the ticket is gone;
           queue: there is no such item
  124      --max-hold reached
  126/127  CMD cannot be executed / was not found
  128+n    signal n ended the waiting;
           queue work: signal n before the queue was empty, or twice";

impl Exit {
    /// Makes the status 128+n, as shells do.
    pub(crate) fn signal(number: i32) -> Self {
        Self::Status(u8::try_from(128 + number).unwrap_or(u8::MAX))
    }

    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Status(status) | Self::NotAcquired(status) => status,
            Self::Usage => 64,
            Self::Unreachable => 69,
            Self::Internal => 70,
            Self::Forbidden => 77,
            Self::Conflict => 78,
            Self::Lost => 122,
            Self::MaxHold => 124,
            Self::CannotExecute => 126,
            Self::NotFound => 127,
        }
    }
}

/// An end that is not a success, and one line that says why.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) message: Option<String>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl ToString) -> Self {
        Self { exit, message: Some(message.to_string()) }
    }

    /// Adds the name and the store to the message.
    pub(crate) fn about(self, subject: NamedStore<'_>) -> Self {
        Self { message: self.message.map(|message| subject.line(&message)), ..self }
    }

    /// Makes an end without a message.
    pub(crate) fn silent(exit: Exit) -> Self {
        Self { exit, message: None }
    }

    pub(crate) fn usage(message: impl ToString) -> Self {
        Self::new(Exit::Usage, message)
    }

    pub(crate) fn internal(message: impl ToString) -> Self {
        Self::new(Exit::Internal, message)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let exit = match error.kind() {
            StoreErrorKind::Unreachable | StoreErrorKind::Full => Exit::Unreachable,
            StoreErrorKind::Forbidden => Exit::Forbidden,
            StoreErrorKind::Misconfigured | StoreErrorKind::OtherVersion => Exit::Conflict,
            // The other kinds are Corrupt, Closed, Internal, and those that a later crate may add.
            _ => Exit::Internal,
        };
        Self::new(exit, error)
    }
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Self {
        match error {
            ConnectError::Store(error) => error.into(),
            ConnectError::Setting(error) => Self::usage(error),
            other => Self::new(Exit::Conflict, other),
        }
    }
}

impl From<AdminError> for Failure {
    fn from(error: AdminError) -> Self {
        match error {
            AdminError::Store(error) => error.into(),
            AdminError::FixedLimit(_) => Self::new(
                Exit::Conflict,
                format!("{error}; `seinpaal pause` admits nobody new; or use another name"),
            ),
            AdminError::SlotsInUse { .. } => Self::new(Exit::Conflict, error),
            AdminError::Unknown(_) => Self::new(
                Exit::Lost,
                format!("{error}; `seinpaal show` lists those that hold or wait"),
            ),
            AdminError::Ended(_) => {
                Self::new(Exit::Lost, format!("{error}; acquire again if it is still needed"))
            }
            other => Self::usage(other),
        }
    }
}

impl From<PushError> for Failure {
    fn from(error: PushError) -> Self {
        match error {
            PushError::Store(error) => error.into(),
            PushError::Unknown(_) => Self::new(Exit::Unreachable, error),
            other => Self::usage(other),
        }
    }
}

impl From<WorkError> for Failure {
    fn from(error: WorkError) -> Self {
        match error {
            WorkError::Store(error) => error.into(),
            other => Self::usage(other),
        }
    }
}

impl From<QueueError> for Failure {
    fn from(error: QueueError) -> Self {
        match error {
            QueueError::Store(error) => error.into(),
            QueueError::Unknown(_) => Self::new(Exit::Unreachable, error),
            QueueError::NoSuchItem(_) => Self::new(Exit::Lost, error),
            other => Self::usage(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_128_more() {
        assert_eq!(Exit::signal(9), Exit::Status(137));
    }

    #[test]
    fn every_fixed_status_stands_in_the_table() {
        for exit in [
            Exit::Usage,
            Exit::Unreachable,
            Exit::Internal,
            Exit::NotAcquired(NOT_ACQUIRED),
            Exit::Forbidden,
            Exit::Conflict,
            Exit::Lost,
            Exit::MaxHold,
            Exit::CannotExecute,
            Exit::NotFound,
        ] {
            assert!(TABLE.contains(&exit.code().to_string()), "{exit:?}");
        }
    }
}
