//! What is wrong with deployments that are served beside each other: two of one name, and sockets that they can't share.

use forecourt_settings::{Problem, Problems};

use super::terms::Terms;
use super::wanted::{WantedSocket, wanted};
use crate::deployment::Deployment;

/// What is wrong with deployments that are served beside each other, and right with each alone: two of one name, and
/// sockets that are not the same.
pub fn disagreements(deployments: &[&Deployment]) -> Problems {
    let mut problems = Problems::new();
    for (at, deployment) in deployments.iter().enumerate() {
        for name in deployment.host_names() {
            let before = deployments[..at].iter().find(|other| other.host_names().contains(&name));
            if let Some(other) = before {
                let text = format!("`{name}` is served by {} already", other.folder().display());
                problems.push(deployment.root.problem(Some("domain"), text));
            }
        }
    }
    if let Some((first, others)) = deployments.split_first() {
        for other in others {
            problems.extend(other_sockets(first, other));
        }
    }
    problems
}

/// What of a deployment is not as sockets are that it would share with another one.
fn other_sockets(first: &Deployment, other: &Deployment) -> Problems {
    let (open, others) = (wanted(first), wanted(other));
    let are_same_terms = Terms::of(first, &open).are_those_of(&Terms::of(other, &others));
    different(other, &open, &others, are_same_terms)
}

/// The differences between open sockets and those that another deployment wants.
pub(super) fn different(
    deployment: &Deployment,
    open: &[WantedSocket],
    wanted: &[WantedSocket],
    are_same_terms: bool,
) -> Problems {
    let mut problems = Problems::new();
    let mut differs = |what: String| {
        let text = format!("{what}: the domains of one daemon share their sockets");
        let hint = "write the same into each forecourt.toml, use the flags of `serve`, or say it once, in a forecourt.toml \
                    that names the others by [[domain]]";
        problems.push(Problem::of_file(deployment.root.file(), text).hint(hint));
    };
    for socket in open {
        match wanted.iter().find(|other| other.name == socket.name) {
            None => differs(format!("{} is on {} for another domain", socket.name, socket.address)),
            Some(other) if (other.address, &other.kind) != (socket.address, &socket.kind) => {
                differs(format!(
                    "{} is on {} for another domain, and is to be on {}",
                    socket.name, socket.address, other.address
                ));
            }
            Some(_) => {}
        }
    }
    for other in wanted.iter().filter(|other| !open.iter().any(|socket| socket.name == other.name)) {
        differs(format!("{} is to be on {}, and not open for another domain", other.name, other.address));
    }
    if !are_same_terms {
        differs("[http] or `trusted_proxies` is another one than for another domain".to_owned());
    }
    problems
}
