//! `/ask`, as it is registered with Discord: when the connector begins to serve, if it is missing or another one.

use forecourt_connectors::Outcome;
use forecourt_egress::Egress;
use http::Method;
use serde_json::{Value, json};

use crate::api::{Api, Route};

/// What the command and its options are called.
pub(crate) const ASK: &str = "ask";
pub(crate) const QUESTION: &str = "question";
pub(crate) const AGENT: &str = "agent";
pub(crate) const FILE: &str = "file";

/// Kinds of options.
const STRING: u64 = 3;
const ATTACHMENT: u64 = 11;
/// Characters of a question: as many as Discord lets an option have.
const QUESTION_CHARS_MAX: u64 = 6_000;
/// Characters of a name of an agent.
const AGENT_CHARS_MAX: u64 = 64;

/// Registers the command unless it is there as it should be; gives whether it had to.
pub(crate) async fn register(api: &Api, egress: &Egress) -> Outcome<bool> {
    let path = format!("/applications/{}/commands", api.application());
    let listed = Route::new(Method::GET, "commands", "", format!("{path}?with_localizations=true"));
    let there = api.call(egress, &listed, None).await?;
    let wanted = command();
    if there.as_array().into_iter().flatten().any(|command| command["name"] == ASK && holds(command, &wanted)) {
        return Ok(false);
    }
    // A command of the same name is replaced.
    let route = Route::new(Method::POST, "commands", "", path);
    api.call(egress, &route, Some(&wanted)).await?;
    Ok(true)
}

/// The command: in servers and in conversations with the bot.
pub(crate) fn command() -> Value {
    json!({
        "name": ASK,
        "type": 1,
        "description": "Asks an agent",
        "description_localizations": {
            "de": "Fragt einen Agenten", "fr": "Pose une question à un agent", "es-ES": "Pregunta a un agente",
        },
        "contexts": [0, 1],
        "integration_types": [0],
        "options": [
            {
                "name": QUESTION, "type": STRING, "required": true, "max_length": QUESTION_CHARS_MAX,
                "description": "What you want to know",
                "description_localizations": {
                    "de": "Was Sie wissen möchten", "fr": "Ce que vous voulez savoir", "es-ES": "Lo que quiere saber",
                },
            },
            {
                "name": AGENT, "type": STRING, "max_length": AGENT_CHARS_MAX,
                "description": "Whom you ask, such as chef",
                "description_localizations": {
                    "de": "Wen Sie fragen, etwa chef", "fr": "À qui vous demandez, par exemple chef",
                    "es-ES": "A quién pregunta, como chef",
                },
            },
            {
                "name": FILE, "type": ATTACHMENT,
                "description": "A file that goes with it",
                "description_localizations": {
                    "de": "Eine Datei dazu", "fr": "Un fichier joint", "es-ES": "Un archivo adjunto",
                },
            },
        ],
    })
}

/// Whether a value has all that is wanted. Discord adds fields of its own.
fn holds(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::Object(value), Value::Object(wanted)) => {
            wanted.iter().all(|(key, wanted)| value.get(key).is_some_and(|value| holds(value, wanted)))
        }
        (Value::Array(value), Value::Array(wanted)) => {
            value.len() == wanted.len() && value.iter().zip(wanted).all(|(value, wanted)| holds(value, wanted))
        }
        (value, wanted) => value == wanted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_is_there_is_left_and_one_that_differs_is_not() {
        let mut there = command();
        there["id"] = json!("1");
        there["options"][0]["name_localizations"] = Value::Null;
        assert!(holds(&there, &command()));
        there["options"].as_array_mut().unwrap().pop();
        assert!(!holds(&there, &command()));
        let mut other = command();
        other["description"] = json!("Something else");
        assert!(!holds(&other, &command()));
    }

    #[test]
    fn the_command_is_within_the_bounds_of_discord() {
        let fits = |text: &Value| (1..=100).contains(&text.as_str().unwrap().chars().count());
        let command = command();
        let options = command["options"].as_array().unwrap();
        for described in options.iter().chain([&command]) {
            assert!(fits(&described["description"]));
            assert!(described["description_localizations"].as_object().unwrap().values().all(fits));
        }
    }
}
