//! The protocol of one kind of platform: its connectors are files, and it has no section of its own.

use std::sync::Arc;

use forecourt_core::{AgentCard, Endpoint, Handle, Site};
use forecourt_correspondence::{Desk, LetterCourier, OpenDesk};
use forecourt_egress::Egress;
use forecourt_host::{Courier, PlatformState, Platforms};
use forecourt_settings::{Problems, Section};
use forecourt_surface::{BackgroundWork, ConnectorDefinition, FileDefinitions, Mount, Surface, Wire};
use futures::future::BoxFuture;

use crate::address::ChatAddress;
use crate::carrier::ChatCarrier;
use crate::connector::{Connector, Connectors};
use crate::in_hand::MessagesInHand;
use crate::intake::Intake;
use crate::listen::listen_all;
use crate::live::LiveAnswers;
use crate::platform::Platform;
use crate::surface::routes;

/// What the [`forecourt_surface::Protocol`] of a platform opens as.
pub struct ConnectorWire<P: Platform> {
    connectors: Arc<Connectors<P>>,
    /// Shared with the courier, which is there before anything is mounted.
    desk: OpenDesk<ChatAddress<P>>,
    live: Arc<LiveAnswers>,
}

impl<P: Platform> ConnectorWire<P> {
    /// A wire without connectors: those come with their files.
    ///
    /// # Errors
    /// The section says something.
    pub fn open(section: &Section) -> Result<Box<dyn Wire>, Problems> {
        let mut problems = Problems::new();
        problems.extend(section.keys().map(|key| section.problem(Some(key), "it is set in a file of `connectors/`")));
        problems.into_result(())?;
        Ok(Box::new(Self { connectors: Arc::default(), desk: Arc::default(), live: Arc::default() }))
    }

    /// Asks the platform whom the credentials of a file are for.
    pub fn try_credentials(section: Section, egress: Arc<Egress>) -> BoxFuture<'static, Result<String, String>> {
        Box::pin(async move {
            let (platform, _) = P::open(&section).map_err(|problems| problems.to_string())?;
            platform.try_credentials(&egress).await.map_err(|error| error.to_string())
        })
    }

    /// What an operator does on the platform.
    pub fn steps(name: &Handle, base: &str) -> String {
        P::steps(name, &format!("{base}{}", P::PATH.replace("{name}", name.as_str())))
    }
}

fn read<P: Platform>(definition: ConnectorDefinition) -> Result<Connector<P>, Problems> {
    let ConnectorDefinition { name, section } = definition;
    let (platform, settings) = P::open(&section)?;
    // Nobody in it would mean the default agent, whom the list is there to keep out.
    if settings.agents.as_ref().is_some_and(Vec::is_empty) {
        return Err(section.problem(Some("agents"), "`agents` is empty: name those that can be asked").into());
    }
    Ok(Connector::new(name, platform, settings, section))
}

impl<P: Platform> Wire for ConnectorWire<P> {
    fn endpoints(&self, _site: &Site, _card: &AgentCard) -> Vec<Endpoint> {
        // Nobody but members of a workspace reaches an agent there.
        Vec::new()
    }

    fn set_definitions(&mut self, definitions: FileDefinitions) -> Result<(), Problems> {
        let FileDefinitions::Connectors(definitions) = definitions else { return Ok(()) };
        let mut problems = Problems::new();
        let read = definitions.into_iter().filter_map(|definition| problems.absorb(read::<P>(definition)));
        let connectors: Connectors<P> = read.map(|connector| (connector.name.clone(), connector)).collect();
        self.connectors = Arc::new(connectors);
        problems.into_result(())
    }

    fn surfaces(&self, mount: &Mount) -> Result<Vec<Surface>, Problems> {
        let mut problems = Problems::new();
        let directory = mount.host.directory();
        for connector in self.connectors.values() {
            problems.extend(connector.unknown_agents(|agent| directory.find(agent).is_some()));
        }
        problems.into_result(())?;
        let platforms = Platforms::of(&mount.services);
        for connector in self.connectors.values() {
            let (name, agents) = (Some(connector.name.clone()), connector.settings.agents.clone());
            platforms.add(PlatformState { platform: P::KIND, name, agents });
        }
        let desk = |connector: &Connector<P>| {
            let per_hour = connector.settings.messages_per_sender_per_hour;
            (connector.name.clone(), Arc::new(Desk::new(mount.host.clone(), per_hour)))
        };
        let intake = Arc::new(Intake {
            host: mount.host.clone(),
            desks: self.connectors.values().map(desk).collect(),
            connectors: self.connectors.clone(),
            egress: mount.egress.clone(),
            live: self.live.clone(),
            in_hand: MessagesInHand::default(),
        });
        // What is due goes through any of them: only what comes in is counted.
        if let Some(desk) = intake.desks.values().next() {
            let _ = self.desk.set(desk.clone());
        }
        let listening = intake.clone();
        let work: BackgroundWork = Box::new(move |stop| Box::pin(listen_all(listening, stop)));
        Ok(vec![Surface::Http(routes(intake)), Surface::Background(work)])
    }

    fn courier(&self, egress: Arc<Egress>, _site: &Site) -> Option<Arc<dyn Courier>> {
        let carrier = ChatCarrier { connectors: self.connectors.clone(), egress, live: self.live.clone() };
        Some(Arc::new(LetterCourier { desk: self.desk.clone(), carrier }))
    }
}
