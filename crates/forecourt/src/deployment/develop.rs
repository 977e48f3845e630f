//! This module makes a deployment one that is worked on.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use forecourt_admin::EntranceSettings;

use super::Deployment;
use crate::development::Development;
use crate::settings::{DrainSettings, Listen};

impl Deployment {
    /// The same deployment to be worked on: on loopback alone, over plain HTTP, under its own names and those of this
    /// machine. What makes it public is left aside: HTTPS and certificates, `public_url`, proxies, the sockets that
    /// protocols have for themselves, `[metrics]`, and what else opens the console. Its files
    /// are watched, whatever `[reload]` says.
    #[must_use]
    pub fn for_development(mut self, development: &Arc<Development>) -> Self {
        let Listen { http, admin, .. } = self.listen;
        let http = on_loopback(http);
        // There is no HTTPS: its port would be told to clients of this machine, and be closed to requests of ours.
        self.listen = Listen { http, https: http, admin: on_loopback(admin) };
        self.top.public_url = None;
        self.top.trusted_proxies.clear();
        self.monitoring = None;
        self.entrance = EntranceSettings { token: Some(development.token()), login: None, url: None };
        // Whoever presses a key to stop does not want to wait for load balancers.
        self.drain = DrainSettings { seconds: Some(0) };
        // A deployment that is served as it was rolled out is still worked on by saving files.
        self.reload.watch = true;
        self.development = Some(development.clone());
        self
    }
}

/// An address on this machine alone: the same, or its port there.
fn on_loopback(address: SocketAddr) -> SocketAddr {
    match address.ip().to_canonical().is_loopback() {
        true => address,
        false => SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), address.port()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_listened_on_is_on_loopback() {
        let moved = |address: &str| on_loopback(address.parse().unwrap()).to_string();
        assert_eq!(moved("127.0.0.1:8080"), "127.0.0.1:8080");
        assert_eq!(moved("[::1]:8080"), "[::1]:8080");
        for everywhere in ["0.0.0.0:80", "192.0.2.7:80", "[::]:80", "[2001:db8::1]:80"] {
            assert_eq!(moved(everywhere), "127.0.0.1:80");
        }
    }
}
