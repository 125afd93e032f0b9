//! The ways in which a program ends a delivery.

use std::time::Duration;

use seinpaal_proto::{
    queue::{FailureReason, How, session::DeliveryEnd},
    time::micros,
};

use super::{super::FinishError, Failed, Item};

impl Item {
    /// Reports the item as done, and waits until the store has confirmed that. Then the item is
    /// gone.
    ///
    /// # Cancel safety
    /// Once this has been polled the item is acknowledged, whether or not it is polled again.
    ///
    /// # If the store is unreachable
    /// The end is sent again for as long as the connection's [patience](crate::Builder::patience)
    /// lasts, and counts once.
    ///
    /// # Errors
    /// [`FinishError::Lost`] if another worker may have worked on the item meanwhile.
    /// [`FinishError::Unknown`] if the store is silent for too long. [`FinishError::Closed`] if the
    /// connection was closed. [`FinishError::Forked`] in a process that was forked from the one
    /// that has connected.
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// let mails = seinpaal.queue("mails that are done");
    /// mails.push("to: ann").await?;
    /// mails.pop().await?.acknowledge().await?;
    /// assert!(mails.try_pop().await?.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn acknowledge(self) -> Result<(), FinishError> {
        ended(self.shared.finish(How::Acknowledge).await).map(drop)
    }

    /// Gives the item back, to be delivered again after `delay`. This delivery does not count.
    /// Without a delay the item returns to its old place in the order.
    ///
    /// # Cancel safety
    /// As [`acknowledge`](Self::acknowledge).
    ///
    /// # Errors
    /// As [`acknowledge`](Self::acknowledge).
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// use std::time::Duration;
    ///
    /// let mails = seinpaal.queue("mails for somebody else");
    /// mails.push("to: ann").await?;
    /// mails.pop().await?.give_back(Duration::ZERO).await?;
    /// assert_eq!(mails.pop().await?.attempt(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn give_back(self, delay: Duration) -> Result<(), FinishError> {
        let how = How::GiveBack { delay: micros(delay) };
        ended(self.shared.finish(how).await).map(drop)
    }

    /// Ends the delivery as failed, with a reason that is cut to 256 bytes. The item is delivered
    /// again after `delay`, or becomes a dead letter if this was its last delivery.
    ///
    /// # Cancel safety
    /// As [`acknowledge`](Self::acknowledge).
    ///
    /// # Errors
    /// As [`acknowledge`](Self::acknowledge).
    ///
    /// # Examples
    /// ```
    /// # futures_executor::block_on(async {
    /// # let seinpaal = seinpaal::Seinpaal::connect("memory:").await?;
    /// use std::time::Duration;
    ///
    /// let mails = seinpaal.queue("mails that fail once");
    /// mails.push("to: ann").await?;
    /// mails.pop().await?.fail("no route to host", Duration::ZERO).await?;
    /// assert_eq!(mails.pop().await?.attempt(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn fail(self, reason: &str, delay: Duration) -> Result<Failed, FinishError> {
        let how = How::Fail { delay: micros(delay), reason: FailureReason::new(reason) };
        ended(self.shared.finish(how).await)
    }
}

fn ended(end: Result<DeliveryEnd, FinishError>) -> Result<Failed, FinishError> {
    match end? {
        DeliveryEnd::Acknowledged | DeliveryEnd::Returned => Ok(Failed::Returned),
        DeliveryEnd::Died => Ok(Failed::Died),
        DeliveryEnd::Lost => Err(FinishError::Lost),
        DeliveryEnd::Unknown => Err(FinishError::Unknown),
    }
}
