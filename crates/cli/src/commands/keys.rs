//! `forecourt keys`: the key that signs for a deployment. Those of programs are in `api_keys`.

use std::path::Path;

use forecourt_core::Timestamp;
use forecourt_host::SystemEntropy;
use forecourt_identity::HostKeys;

use crate::args::{Keys, KeysWhat};
use crate::output::{Failure, Outcome, print_json, stderrln, stdoutln};
use forecourt::{Deployment, data_folder, shared, storage};

/// Shows the keys, after a rotation if that was asked for; or does what was asked of API keys.
pub(crate) async fn run(keys: &Keys) -> Outcome {
    match &keys.what {
        Some(KeysWhat::Api(api)) => super::api_keys::run(&api.what).await,
        None => show(keys).await,
    }
}

async fn show(keys: &Keys) -> Outcome {
    let deployment = super::load(&keys.place)?;
    let data = data_folder::make(&keys.place.data_dir())?;
    let (held, now) = match deployment.is_shared() {
        true => (of_all_nodes(keys, &deployment, &data).await?, Timestamp::now()),
        false => own(keys, &data)?,
    };
    if keys.rotate {
        stderrln!("A new key signs from now on. The old one stays published for 24 hours.");
    }
    match keys.json {
        true => print_json(&held.jwks(now)),
        false => {
            stdoutln!("{}", held.current().kid());
            held.previous(now).for_each(|key| stdoutln!("{} (previous)", key.kid));
            Ok(())
        }
    }
}

/// The keys in the store that nodes share.
async fn of_all_nodes(keys: &Keys, deployment: &Deployment, data: &Path) -> Result<HostKeys, Failure> {
    let shared = shared::keys_of(&storage::shared_store(deployment, data).await?).await?;
    Ok(if keys.rotate { shared.rotate(data).await? } else { shared.agree(data).await? })
}

/// The keys in the data folder.
fn own(keys: &Keys, data: &Path) -> Result<(HostKeys, Timestamp), Failure> {
    let ours = |error: forecourt_identity::HostKeysError| Failure::ours(error.to_string());
    let now = Timestamp::now();
    let mut held = HostKeys::load_or_create(data, &SystemEntropy).map_err(ours)?;
    if keys.rotate {
        held.rotate(data, &SystemEntropy, now).map_err(ours)?;
    }
    Ok((held, now))
}
