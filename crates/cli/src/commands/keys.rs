//! `forecourt keys`: the key that signs for a deployment. Those of programs are in `api_keys`.

use forecourt_core::Timestamp;
use forecourt_host::SystemEntropy;
use forecourt_identity::HostKeys;

use crate::args::{Keys, KeysWhat};
use crate::output::{Failure, Outcome, print_json, stderrln, stdoutln};
use forecourt::data_folder;

/// Shows the keys, after a rotation if that was asked for; or does what was asked of API keys.
pub(crate) async fn run(keys: &Keys) -> Outcome {
    match &keys.what {
        Some(KeysWhat::Api(api)) => super::api_keys::run(&api.what).await,
        None => show(keys),
    }
}

fn show(keys: &Keys) -> Outcome {
    super::load(&keys.place)?;
    let data = data_folder::make(&keys.place.data_dir())?;
    let ours = |error: forecourt_identity::HostKeysError| Failure::ours(error.to_string());
    let now = Timestamp::now();
    let mut held = HostKeys::load_or_create(&data, &SystemEntropy).map_err(ours)?;
    if keys.rotate {
        held.rotate(&data, &SystemEntropy, now).map_err(ours)?;
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
