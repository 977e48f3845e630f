//! The flags of `forecourt dev`.

use std::net::{Ipv4Addr, SocketAddr};

use clap::Args;

use super::{ListenFlags, Place, SocketFlags};

#[derive(Debug, Args)]
pub(crate) struct Dev {
    #[command(flatten)]
    pub place: Place,
    /// Plain HTTP on this port of loopback; a free one where it is taken.
    #[arg(long, value_name = "PORT", value_parser = loopback_port)]
    pub http: Option<SocketAddr>,
    /// The console, health and metrics on this port of loopback; a free one where it is taken.
    #[arg(long, value_name = "PORT", value_parser = loopback_port)]
    pub admin: Option<SocketAddr>,
    /// Open no browser.
    #[arg(long)]
    pub no_open: bool,
    /// A line for each request, without its steps.
    #[arg(long)]
    pub no_tree: bool,
}

impl Dev {
    /// What goes before the files.
    pub(crate) fn listen(&self) -> ListenFlags {
        ListenFlags { http: self.http, https: None, admin: self.admin, own: SocketFlags::default() }
    }
}

/// A port, or an address with one.
fn loopback_port(text: &str) -> Result<SocketAddr, String> {
    match text.parse::<u16>() {
        Ok(port) => Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port))),
        Err(_) => text.parse().map_err(|_| "it is no port, such as 8080".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_one_of_loopback() {
        assert_eq!(loopback_port("8080"), Ok("127.0.0.1:8080".parse().unwrap()));
        assert_eq!(loopback_port("127.0.0.2:0"), Ok("127.0.0.2:0".parse().unwrap()));
        for wrong in ["", "65536", "-1", "localhost:80"] {
            assert!(loopback_port(wrong).is_err(), "{wrong}");
        }
    }
}
