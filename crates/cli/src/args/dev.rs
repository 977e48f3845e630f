//! The flags of `forecourt dev`.

use std::net::SocketAddr;

use clap::Args;

use super::{ListenFlags, Place, SocketFlags};

#[derive(Debug, Args)]
pub(crate) struct Dev {
    #[command(flatten)]
    pub place: Place,
    /// Plain HTTP on this port of loopback; a free one where it is taken.
    #[arg(long)]
    pub http: Option<SocketAddr>,
    /// The console, health and metrics on this port of loopback; a free one where it is taken.
    #[arg(long)]
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
