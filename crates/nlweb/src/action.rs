//! What can be done with an item, by configuration. NLWeb 5.

use forecourt_core::Handle;
use forecourt_surface::template::{Template, Text, encoded, unbroken};
use http::{HeaderName, Method};
use serde_json::{Map, Value};
use url::Url;

use crate::limits::ACTIONS_MAX;
use crate::section::ActionSettings;

/// The vocabulary of types that say no other.
const SCHEMA_ORG: &str = "https://schema.org/";

/// An action of the configuration, parsed and checked.
#[derive(Debug)]
pub(crate) struct Action {
    item_type: Option<String>,
    agents: Vec<Handle>,
    /// What is the same for every item.
    fixed: Map<String, Value>,
    description: Text,
    how: How,
}

/// The attributes that only one protocol has, with holes.
#[derive(Debug)]
enum How {
    Http { endpoint: Text, params: Option<Template>, headers: Vec<(String, Text)> },
    Mcp { arguments: Option<Template> },
    A2a { message: Option<Template> },
}

/// Reads all actions, or says of each what is wrong with it.
pub(crate) fn read(settings: &[ActionSettings]) -> Result<Vec<Action>, Vec<String>> {
    if settings.len() > ACTIONS_MAX {
        return Err(vec![format!("there are {} actions, and {ACTIONS_MAX} are allowed", settings.len())]);
    }
    let (mut actions, mut problems) = (Vec::new(), Vec::new());
    for each in settings {
        match Action::read(each) {
            Ok(action) => actions.push(action),
            Err(problem) => problems.push(format!("the action `{}` {problem}", each.name)),
        }
    }
    if problems.is_empty() { Ok(actions) } else { Err(problems) }
}

impl Action {
    fn read(settings: &ActionSettings) -> Result<Self, String> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        if settings.name.is_empty() || !settings.name.chars().all(is_name) {
            return Err("needs a name of letters, digits, `_`, `-` and `.`".to_owned());
        }
        if settings.description.trim().is_empty() {
            return Err("needs a description".to_owned());
        }
        let agents = settings.agents.iter().map(|name| Handle::parse(name).map_err(|error| error.to_string()));
        let mut fixed = Map::new();
        fixed.insert("name".to_owned(), settings.name.clone().into());
        fixed.insert("protocol".to_owned(), settings.protocol.clone().into());
        if let Some(kind) = &settings.kind {
            fixed.insert("@type".to_owned(), kind.clone().into());
        }
        let context = settings.context.clone().or_else(|| settings.kind.as_ref().map(|_| SCHEMA_ORG.to_owned()));
        if let Some(context) = context {
            fixed.insert("@context".to_owned(), context.into());
        }
        let how = How::read(settings, &mut fixed)?;
        Ok(Self {
            item_type: settings.item_type.clone(),
            agents: agents.collect::<Result<_, _>>()?,
            fixed,
            description: Text::read(&settings.description)?,
            how,
        })
    }

    /// The agents that it names.
    pub(crate) fn agents(&self) -> &[Handle] {
        &self.agents
    }

    /// The action for an item of an agent. `None` when it does not fit, or the item lacks a field.
    pub(crate) fn for_item(&self, item: &Value, agent: &Handle) -> Option<Value> {
        let whose = self.agents.is_empty() || self.agents.contains(agent);
        let fits = self.item_type.as_ref().is_none_or(|wanted| is_a(item, wanted));
        if !(whose && fits) {
            return None;
        }
        let mut action = self.fixed.clone();
        action.insert("description".to_owned(), self.description.fill(item, str::to_owned)?.into());
        self.how.fill(item, &mut action)?;
        Some(Value::Object(action))
    }
}

/// Whether an item is of a type, under its short name or its full one.
fn is_a(item: &Value, wanted: &str) -> bool {
    let is = |kind: &Value| {
        kind.as_str().is_some_and(|kind| kind == wanted || kind.rsplit(['/', '#', ':']).next() == Some(wanted))
    };
    match item.get("@type") {
        Some(Value::Array(kinds)) => kinds.iter().any(is),
        Some(kind) => is(kind),
        None => false,
    }
}

impl How {
    fn read(settings: &ActionSettings, fixed: &mut Map<String, Value>) -> Result<Self, String> {
        let s = settings;
        let http = [s.method.is_some(), s.endpoint.is_some(), s.params.is_some(), s.headers.is_some()];
        let http = ["method", "endpoint", "params", "headers"].into_iter().zip(http);
        let mcp = [s.server.is_some(), s.tool.is_some(), s.arguments.is_some()];
        let mcp = ["server", "tool", "arguments"].into_iter().zip(mcp);
        let a2a = [s.agent_url.is_some(), s.skill.is_some(), s.message.is_some()];
        let a2a = ["agent_url", "skill", "message"].into_iter().zip(a2a);
        let given = |(key, given): (&'static str, bool)| given.then_some(key);
        let foreign = match s.protocol.as_str() {
            "HTTP" => mcp.chain(a2a).find_map(given),
            "MCP" => http.chain(a2a).find_map(given),
            "A2A" => http.chain(mcp).find_map(given),
            other => return Err(format!("has the protocol `{other}`; there are HTTP, MCP and A2A")),
        };
        if let Some(key) = foreign {
            return Err(format!("has `{key}`, which goes with another protocol than {}", s.protocol));
        }
        match s.protocol.as_str() {
            "HTTP" => Self::http(s, fixed),
            "MCP" => {
                named(fixed, "server", s.server.as_deref())?;
                named(fixed, "tool", s.tool.as_deref())?;
                Ok(Self::Mcp { arguments: template(s.arguments.as_ref(), "arguments")? })
            }
            _ => {
                let url = s.agent_url.as_deref().ok_or("needs an `agent_url`")?;
                address("agent_url", url, false)?;
                named(fixed, "agent_url", Some(url))?;
                named(fixed, "skill", s.skill.as_deref())?;
                Ok(Self::A2a { message: template(s.message.as_ref(), "message")? })
            }
        }
    }

    fn http(settings: &ActionSettings, fixed: &mut Map<String, Value>) -> Result<Self, String> {
        let method = settings.method.as_deref().ok_or("needs a `method`, such as POST")?;
        let is_method = method.chars().all(|c| c.is_ascii_uppercase()) && Method::from_bytes(method.as_bytes()).is_ok();
        if !is_method {
            return Err(format!("has the method `{method}`; write it in capitals, such as POST"));
        }
        fixed.insert("method".to_owned(), method.into());
        let endpoint = settings.endpoint.as_deref().ok_or("needs an `endpoint`")?;
        let endpoint = Text::read(endpoint).map_err(|problem| format!("has an `endpoint` that {problem}"))?;
        address("endpoint", endpoint.beginning(), endpoint.has_holes())?;
        let headers = settings.headers.iter().flatten().map(|(name, value)| {
            HeaderName::from_bytes(name.as_bytes())
                .map_err(|_| format!("has a header `{name}` that is no field name"))?;
            let text = value.as_str().ok_or_else(|| format!("has a header `{name}` that is no string"))?;
            Ok((name.clone(), Text::read(text)?))
        });
        let headers = headers.collect::<Result<_, String>>()?;
        Ok(Self::Http { endpoint, params: template(settings.params.as_ref(), "params")?, headers })
    }

    fn fill(&self, item: &Value, action: &mut Map<String, Value>) -> Option<()> {
        let mut set = |key: &str, value: Value| action.insert(key.to_owned(), value);
        match self {
            Self::Http { endpoint, params, headers } => {
                // Encoded: a field of an item must not add a path or a parameter to the address.
                set("endpoint", endpoint.fill(item, encoded)?.into());
                if let Some(params) = params {
                    set("params", params.fill(item)?);
                }
                // Unbroken: a line break in a field of an item would begin another header.
                let each = headers.iter().map(|(name, text)| Some((name.clone(), text.fill(item, unbroken)?.into())));
                let headers = each.collect::<Option<Map<_, _>>>()?;
                if !headers.is_empty() {
                    set("headers", headers.into());
                }
            }
            Self::Mcp { arguments: template } => {
                if let Some(template) = template {
                    set("arguments", template.fill(item)?);
                }
            }
            Self::A2a { message: template } => {
                if let Some(template) = template {
                    set("message", template.fill(item)?);
                }
            }
        }
        Some(())
    }
}

fn template(value: Option<&Map<String, Value>>, key: &str) -> Result<Option<Template>, String> {
    let read = |value: &Map<String, Value>| Template::read(&Value::Object(value.clone()));
    value.map(read).transpose().map_err(|problem| format!("has `{key}` that {problem}"))
}

fn named(fixed: &mut Map<String, Value>, key: &str, value: Option<&str>) -> Result<(), String> {
    let value = value.filter(|value| !value.trim().is_empty()).ok_or_else(|| format!("needs a `{key}`"))?;
    fixed.insert(key.to_owned(), value.into());
    Ok(())
}

/// An absolute https address whose host is whole before its first hole: no item decides where a client
/// connects to.
fn address(key: &str, beginning: &str, goes_on: bool) -> Result<(), String> {
    let wrong = || format!("needs an `{key}` that begins with https:// and a host, without a hole in either");
    let rest = beginning.strip_prefix("https://").ok_or_else(wrong)?;
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_whole = rest.len() > host.len() || !goes_on;
    match !host.is_empty() && !host.contains('@') && is_whole && Url::parse(beginning).is_ok() {
        true => Ok(()),
        false => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_one(settings: Value) -> Result<Action, String> {
        Action::read(&serde_json::from_value(settings).expect("the settings have the right types"))
    }

    fn cart() -> Value {
        json!({
            "item_type": "Recipe", "name": "add_ingredients", "description": "Buy what {name} takes",
            "type": "AddToCartAction", "protocol": "HTTP", "method": "POST",
            "endpoint": "https://shop.example/cart/{name}?from={url}", "params": {"items": "{recipeIngredient}"},
            "headers": {"X-Name": "{name}"},
        })
    }

    fn soup() -> Value {
        json!({"@type": "Recipe", "name": "Pea\nsoup", "url": "https://x.example/?a=b", "recipeIngredient": ["peas"]})
    }

    fn on(action: &Action, item: &Value) -> Option<Value> {
        action.for_item(item, &Handle::parse("chef").expect("a handle"))
    }

    #[test]
    fn s5_an_http_action_is_filled_by_the_item() {
        let action = read_one(cart()).expect("the action is fine");
        assert_eq!(
            on(&action, &soup()),
            Some(json!({
                "@context": "https://schema.org/", "@type": "AddToCartAction", "name": "add_ingredients",
                "description": "Buy what Pea\nsoup takes", "protocol": "HTTP", "method": "POST",
                "endpoint": "https://shop.example/cart/Pea%0Asoup?from=https%3A%2F%2Fx.example%2F%3Fa%3Db",
                "params": {"items": ["peas"]}, "headers": {"X-Name": "Peasoup"},
            }))
        );
    }

    #[test]
    fn s5_mcp_and_a2a_actions_have_their_own_attributes() {
        let mcp = json!({"name": "a", "description": "b", "protocol": "MCP", "server": "s", "tool": "t",
            "arguments": {"n": "{name}"}});
        let filled = on(&read_one(mcp).expect("fine"), &soup()).expect("it fits");
        assert_eq!(
            filled,
            json!({"name": "a", "description": "b", "protocol": "MCP", "server": "s", "tool": "t",
            "arguments": {"n": "Pea\nsoup"}})
        );
        let a2a = json!({"name": "a", "description": "b", "protocol": "A2A", "agent_url": "https://a.example/a2a",
            "skill": "order", "message": {"text": "{name}"}});
        let filled = on(&read_one(a2a).expect("fine"), &soup()).expect("it fits");
        assert_eq!((&filled["skill"], &filled["message"]["text"]), (&json!("order"), &json!("Pea\nsoup")));
    }

    #[test]
    fn s5_items_of_other_types_agents_or_without_the_field_do_not_get_it() {
        let action = read_one(cart()).expect("fine");
        assert_eq!(on(&action, &json!({"@type": "Movie", "name": "x"})), None);
        assert_eq!(on(&action, &json!({"@type": "Recipe", "name": "x"})), None);
        let mut typed = soup();
        typed["@type"] = json!(["Thing", "https://schema.org/Recipe"]);
        assert!(on(&action, &typed).is_some());
        let mut settings = cart();
        settings["agents"] = json!(["baker"]);
        assert_eq!(on(&read_one(settings).expect("fine"), &soup()), None);
    }

    #[test]
    fn s5_what_no_client_could_use_is_refused() {
        let changed = |key: &str, value: Value| {
            let mut settings = cart();
            settings[key] = value;
            read_one(settings).err().unwrap_or_default()
        };
        for (key, value, says) in [
            ("protocol", json!("SOAP"), "HTTP, MCP and A2A"),
            ("protocol", json!("MCP"), "goes with another protocol"),
            ("name", json!("add to cart"), "needs a name"),
            ("description", json!(" "), "needs a description"),
            ("description", json!("{"), "brace"),
            ("method", json!("post"), "capitals"),
            ("method", Value::Null, "needs a `method`"),
            ("endpoint", Value::Null, "needs an `endpoint`"),
            ("endpoint", json!("http://shop.example/"), "https://"),
            ("endpoint", json!("https://{name}.example/"), "https://"),
            ("endpoint", json!("https://shop{name}/"), "https://"),
            ("endpoint", json!("https://a@{name}/"), "https://"),
            ("endpoint", json!("{url}"), "https://"),
            ("headers", json!({"a b": "c"}), "no field name"),
            ("headers", json!({"a": 1}), "no string"),
            ("params", json!({"a": "{"}), "params"),
            ("skill", json!("x"), "goes with another protocol"),
            ("agents", json!(["a b"]), "handle"),
        ] {
            let problem = changed(key, value.clone());
            assert!(problem.contains(says), "{key} = {value}: {problem}");
        }
    }

    #[test]
    fn actions_are_bounded() {
        let many = |count: usize| {
            let one: ActionSettings = serde_json::from_value(cart()).expect("fine");
            read(&vec![one; count]).map(|actions| actions.len()).ok()
        };
        assert_eq!((many(ACTIONS_MAX), many(ACTIONS_MAX + 1)), (Some(ACTIONS_MAX), None));
    }
}
