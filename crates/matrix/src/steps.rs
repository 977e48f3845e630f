//! What an operator does at the homeserver, and the registration that is given to it.

use forecourt_core::Handle;

/// The steps for a connector of this name, whose events go below `url`.
pub(crate) fn steps(name: &Handle, url: &str) -> String {
    let variable = name.as_str().to_uppercase().replace('-', "_");
    format!(
        "1. Make up two tokens, which the homeserver and this host know each other by:\n\n\
         export {variable}_AS_TOKEN=$(openssl rand -hex 32)\n\
         export {variable}_HS_TOKEN=$(openssl rand -hex 32)\n\n\
         2. Put the registration beside the settings of the homeserver, as forecourt-{name}.yaml:\n\n\
         cat > forecourt-{name}.yaml <<END\n\
         id: forecourt-{name}\n\
         url: {url}\n\
         as_token: ${variable}_AS_TOKEN\n\
         hs_token: ${variable}_HS_TOKEN\n\
         sender_localpart: {name}\n\
         rate_limited: false\n\
         namespaces:\n  \
           users:\n    \
             - {{exclusive: true, regex: '@{name}:.*'}}\n  \
           aliases: []\n  \
           rooms: []\n\
         END\n\n\
         3. Tell the homeserver of that file and start it again. Synapse: app_service_config_files in homeserver.yaml. \
         Others: their command for application services.\n\
         4. Write connectors/{name}.toml:\n\n\
         kind = \"matrix\"\n\
         homeserver = \"https://matrix.example.org\"\n\
         server_name = \"example.org\"\n\
         localpart = \"{name}\"\n\
         as_token = \"${{{variable}_AS_TOKEN}}\"\n\
         hs_token = \"${{{variable}_HS_TOKEN}}\"\n\n\
         5. Serve with the two variables set. `forecourt check --connect` asks the homeserver whether they are good, and \
         whether it reaches that URL.\n\
         6. Invite @{name}:example.org into a room without encryption, and mention it; or start a chat with it. \
         rate_limited: false lets it show answers while they are written.\n"
    )
}
