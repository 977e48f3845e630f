//! The paths of the API.

use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use serde_json::{Value, json};

use super::call::{Call, Refused};
use super::{
    DISCORD_APPLICATION, DISCORD_BOT, DISCORD_ROLE, DISCORD_TOKEN, DiscordBooks, DiscordDouble, commands, messages,
};

pub(super) fn routes(discord: DiscordDouble) -> Router {
    Router::new().route("/files/{name}", get(on_file)).route("/api/{*path}", any(on_method)).with_state(discord)
}

async fn on_file(State(discord): State<DiscordDouble>, Path(name): Path<String>, headers: HeaderMap) -> Response {
    let mut books = discord.books.lock();
    if headers.contains_key("authorization") {
        books.note("a file was asked for with a token");
        return StatusCode::BAD_REQUEST.into_response();
    }
    books.shared.get(&name).map_or_else(|| StatusCode::NOT_FOUND.into_response(), |bytes| bytes.clone().into_response())
}

async fn on_method(
    State(discord): State<DiscordDouble>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let mut books = discord.books.lock();
    let path: Vec<&str> = uri.path().trim_start_matches("/api/").split('/').collect();
    let field = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    // Discord keeps those away who don't say what they are.
    if !field("user-agent").starts_with("DiscordBot (") {
        books.note("a request without the user agent of a bot");
        return StatusCode::FORBIDDEN.into_response();
    }
    let query = uri.query().unwrap_or_default();
    let call = Call { method: &method, path, query, kind: field("content-type"), body: &body };
    let (name, bucket) = (call.name(), call.bucket());
    if let Some(at) = books.faults.iter().position(|(of, _)| *of == name) {
        let status = books.faults.remove(at).1;
        return refuse((status, 0, "as it was told to"), Some(Duration::from_millis(500)));
    }
    let left = match books.count(&bucket) {
        Ok(left) => left,
        Err(wait) => return refuse((429, 0, "You are being rate limited."), Some(wait)),
    };
    let is_command = call.path.first() == Some(&"webhooks");
    let token = field("authorization");
    let done = match is_command {
        true if !token.is_empty() => {
            books.note("a token was sent with a command");
            Err((400, 0, "a token too many"))
        }
        false if token != format!("Bot {DISCORD_TOKEN}") => Err((401, 0, "401: Unauthorized")),
        _ => dispatch(&mut books, &call),
    };
    let mut response = match done {
        Ok(Value::Null) => StatusCode::NO_CONTENT.into_response(),
        Ok(value) => axum::Json(value).into_response(),
        Err(refused) => {
            if refused.0 == 400 {
                books.note(format!("{name}: {}", refused.2));
            }
            refuse(refused, None)
        }
    };
    let limits = [("bucket", bucket), ("remaining", left.to_string()), ("reset-after", "1.0".to_owned())];
    for (key, value) in limits {
        let key = axum::http::HeaderName::try_from(format!("x-ratelimit-{key}")).unwrap();
        response.headers_mut().insert(key, value.replace('/', "-").parse().unwrap());
    }
    response
}

fn refuse((status, code, words): Refused, wait: Option<Duration>) -> Response {
    let mut answer = json!({"message": words, "code": code});
    if let Some(wait) = wait.filter(|_| status == 429) {
        answer["retry_after"] = json!(wait.as_secs_f64());
        answer["global"] = json!(false);
    }
    (StatusCode::from_u16(status).unwrap(), axum::Json(answer)).into_response()
}

fn dispatch(books: &mut DiscordBooks, call: &Call<'_>) -> Result<Value, Refused> {
    match (call.method.as_str(), call.path.as_slice()) {
        ("GET", ["users", "@me"]) => Ok(json!({"id": DISCORD_BOT, "username": "cook", "bot": true})),
        ("GET", ["applications", "@me"]) => {
            let key = super::discord_public_key();
            Ok(json!({"id": DISCORD_APPLICATION, "name": "Cook", "verify_key": key, "flags": 1 << 19}))
        }
        ("GET", ["gateway", "bot"]) => {
            let limit = json!({"total": 1_000, "remaining": 999, "reset_after": 14_400_000, "max_concurrency": 1});
            Ok(json!({"url": books.gateway, "shards": 1, "session_start_limit": limit}))
        }
        ("GET", ["applications", DISCORD_APPLICATION, "commands"]) => Ok(json!(books.commands)),
        ("POST", ["applications", DISCORD_APPLICATION, "commands"]) => {
            let known = [
                "name",
                "type",
                "description",
                "description_localizations",
                "contexts",
                "integration_types",
                "options",
            ];
            let mut command = call.fields(&known)?;
            command["id"] = json!("77");
            command["version"] = json!("1");
            books.commands.retain(|other| other["name"] != command["name"]);
            books.commands.push(command.clone());
            Ok(command)
        }
        ("GET", ["channels", id]) => {
            let kind = if books.threads.contains(*id) { 11 } else { 0 };
            Ok(json!({"id": id, "type": kind}))
        }
        ("GET", ["guilds", _, "members", DISCORD_BOT]) => Ok(json!({"roles": [DISCORD_ROLE]})),
        ("POST", ["users", "@me", "channels"]) => {
            let fields = call.fields(&["recipient_id"])?;
            let user = fields["recipient_id"].as_str().ok_or((400, 50_033, "Invalid Recipient(s)"))?;
            Ok(json!({"id": DiscordDouble::direct(user), "type": 1}))
        }
        ("GET", ["channels", channel, "messages"]) => messages::after(books, call, channel),
        ("POST", ["channels", channel, "messages"]) => messages::post(books, call, channel),
        ("PATCH", ["channels", channel, "messages", id]) => messages::edit(books, call, channel, id),
        ("DELETE", ["channels", channel, "messages", id]) => messages::delete(books, channel, id),
        (_, ["webhooks", DISCORD_APPLICATION, token, rest @ ..]) => commands::answer(books, call, token, rest),
        _ => Err((404, 0, "404: Not Found")),
    }
}
