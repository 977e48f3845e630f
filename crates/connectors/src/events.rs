//! What an event asks for, one after the other where a request holds several.

use forecourt_core::Error;
use forecourt_host::EventOutcome;

use crate::connector::Connector;
use crate::intake::{Intake, Question, message_name};
use crate::platform::{Incoming, Platform, PlatformError, Reception};

impl<P: Platform> Intake<P> {
    /// Does what an event asks for. Whatever must not be lost is durable when this returns; fails where it must be sent
    /// again.
    pub(crate) async fn take(&self, connector: &Connector<P>, incoming: Incoming) -> Result<Reception, Error> {
        let Incoming::Several(all) = incoming else { return self.take_counted(connector, incoming).await };
        let mut done = Ok(Reception::Taken);
        for one in all {
            // One that fails holds up none behind it: when all are sent again, those are found done.
            if let Err(error) = self.take_counted(connector, one).await {
                done = Err(error);
            }
        }
        done
    }

    /// The same for one event, which is counted by what became of it.
    async fn take_counted(&self, connector: &Connector<P>, incoming: Incoming) -> Result<Reception, Error> {
        let taken = self.take_one(connector, incoming).await;
        self.count(connector, *taken.as_ref().unwrap_or(&EventOutcome::Failed));
        Ok(match taken? {
            EventOutcome::Dropped => Reception::Dropped,
            _ => Reception::Taken,
        })
    }

    async fn take_one(&self, connector: &Connector<P>, incoming: Incoming) -> Result<EventOutcome, Error> {
        match self.looked_into(connector, incoming).await? {
            Incoming::Reply(_) | Incoming::Nothing | Incoming::Open(_) | Incoming::Several(_) => {
                Ok(EventOutcome::Ignored)
            }
            Incoming::Message(message) => {
                let name = message_name(connector, &message.place, &message.message);
                self.hear(connector, Question { message: &message, name, replaces: None }).await
            }
            Incoming::Edited(message) => self.hear_again(connector, &message).await,
            Incoming::Deleted { place, message } => self.forget(connector, &place, &message).await,
        }
    }

    /// What an event tells, once the platform has looked into it. What it will never look into tells nothing.
    async fn looked_into(&self, connector: &Connector<P>, incoming: Incoming) -> Result<Incoming, Error> {
        let Incoming::Open(event) = incoming else { return Ok(incoming) };
        match connector.platform.look_into(&self.egress, event).await {
            Ok(incoming) => Ok(incoming),
            Err(error @ (PlatformError::Refused(_) | PlatformError::TakenDown)) => {
                tracing::info!(connector = %connector.name, %error, "an event was passed over");
                Ok(Incoming::Nothing)
            }
            Err(error @ (PlatformError::Later(_) | PlatformError::Failed(_))) => {
                tracing::warn!(connector = %connector.name, %error, "an event could not be looked into");
                Err(Error::unavailable())
            }
        }
    }
}
