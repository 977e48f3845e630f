//! The sockets that protocols have for themselves, beside the shared HTTP listeners.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use forecourt_host::SystemEntropy;
use forecourt_server::{
    Certificates, HttpLimits, Listener, ListenerContext, Metrics, ServeError, StreamListener, StreamSettings,
};
use forecourt_surface::{Carries, Listen};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::error::Error;
use crate::live::LiveHouse;
use crate::settings::Tls;

/// Bound, not yet serving; by name.
#[derive(Default)]
pub(super) struct Own {
    streams: HashMap<&'static str, StreamListener>,
    http: HashMap<&'static str, Listener>,
}

/// What sockets of every kind are served with.
pub(super) struct Shared {
    pub limits: HttpLimits,
    pub metrics: Arc<Metrics>,
    pub front: Arc<ListenerContext>,
}

impl Own {
    /// Binds every socket that has an address.
    pub(super) async fn bind(wanted: Vec<Listen>, certificates: &Arc<Certificates>, tls: &Tls) -> Result<Self, Error> {
        let mut own = Self::default();
        for listen in wanted {
            let Some(address) = listen.address else { continue };
            if let Carries::Tls { .. } = listen.carries {
                tls.suits(listen.name, address)?;
            }
            match own.open(&listen, address, certificates).await {
                Err(ServeError::Bind { .. }) if listen.may_move => {
                    let free = SocketAddr::new(address.ip(), 0);
                    own.open(&listen, free, certificates).await.map_err(|error| taken(&error, listen.name))?;
                    let moved = own.address(listen.name).unwrap_or(free);
                    tracing::warn!("{address} is taken: {} is on {moved} instead", listen.name);
                }
                opened => opened.map_err(|error| taken(&error, listen.name))?,
            }
        }
        Ok(own)
    }

    async fn open(
        &mut self,
        listen: &Listen,
        address: SocketAddr,
        certificates: &Arc<Certificates>,
    ) -> Result<(), ServeError> {
        match &listen.carries {
            Carries::Tls { alpn, clients } => {
                let config = certificates.stream_config(alpn, clients).map_err(ServeError::Tls)?;
                self.streams.insert(listen.name, StreamListener::tls(address, Arc::new(config)).await?);
            }
            Carries::Plain => drop(self.streams.insert(listen.name, StreamListener::plain(address).await?)),
            Carries::Http => drop(self.http.insert(listen.name, Listener::plain(address).await?)),
        }
        Ok(())
    }

    /// The address of a socket by its name; `None` when it is not open.
    pub(super) fn address(&self, name: &str) -> Option<SocketAddr> {
        let stream = self.streams.get(name).map(StreamListener::address);
        stream.or_else(|| self.http.get(name).map(Listener::address))
    }

    /// Every socket: its name, and where it is.
    pub(super) fn addresses(&self) -> Vec<(&'static str, SocketAddr)> {
        let streams = self.streams.iter().map(|(name, listener)| (*name, listener.address()));
        let mut all: Vec<_> = streams.chain(self.http.iter().map(|(name, http)| (*name, http.address()))).collect();
        all.sort_unstable();
        all
    }

    /// The names of those that carry HTTP.
    pub(super) fn http_names(&self) -> impl Iterator<Item = &'static str> {
        self.http.keys().copied()
    }

    /// Serves until `stop` what the house of the moment answers on these sockets.
    pub(super) async fn serve(self, live: &Arc<LiveHouse>, shared: Shared, stop: CancellationToken) {
        let mut serving = JoinSet::new();
        for (name, listener) in self.streams {
            serving.spawn(listener.serve(shared.stream_settings(name), live.stream(name), stop.clone()));
        }
        for (name, listener) in self.http {
            serving.spawn(listener.serve(shared.front.clone(), live.own(name), stop.clone()));
        }
        serving.join_all().await;
    }
}

impl Shared {
    fn stream_settings(&self, protocol: &'static str) -> StreamSettings {
        StreamSettings {
            protocol,
            connections_max: self.limits.connections_max,
            connections_per_address_max: self.limits.connections_per_address_max,
            handshake_time: self.limits.handshake_time,
            drain_time: self.limits.drain_time,
            metrics: self.metrics.clone(),
            entropy: Arc::new(SystemEntropy),
        }
    }
}

fn taken(error: &ServeError, name: &str) -> Error {
    Error::new(error.to_string()).hint(format!("--{name} {}:0 takes a free port", Ipv4Addr::LOCALHOST))
}
