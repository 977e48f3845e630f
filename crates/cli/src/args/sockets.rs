//! This module makes flags of the sockets that protocols have for themselves.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, value_parser};
use forecourt_surface::Socket;

use forecourt::registry::PROTOCOLS;

/// Where the sockets of protocols are wanted, by the names of their flags.
#[derive(Debug, Clone, Default)]
pub(crate) struct SocketFlags(BTreeMap<&'static str, SocketAddr>);

impl SocketFlags {
    /// Every address that was given, by the name of its flag.
    pub(crate) fn all(&self) -> HashMap<String, SocketAddr> {
        self.0.iter().map(|(name, address)| ((*name).to_owned(), *address)).collect()
    }
}

fn sockets() -> impl Iterator<Item = &'static Socket> {
    PROTOCOLS.iter().flat_map(|protocol| protocol.sockets)
}

impl Args for SocketFlags {
    fn augment_args(command: Command) -> Command {
        let flag = |socket: &Socket| {
            let arg = Arg::new(socket.name).long(socket.name).value_name("ADDR").help(socket.help);
            arg.value_parser(value_parser!(SocketAddr))
        };
        sockets().fold(command, |command, socket| command.arg(flag(socket)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SocketFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = sockets().filter_map(|socket| Some((socket.name, *matches.get_one(socket.name)?)));
        Ok(Self(given.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.extend(Self::from_arg_matches(matches)?.0);
        Ok(())
    }
}
