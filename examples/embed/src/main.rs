//! A program with a host inside: one agent and one endpoint are Rust code, the rest is a folder.

use std::error::Error;
use std::path::Path;

use forecourt::settings::{AgentSettings, ListenOverrides};
use forecourt::{Admitted, Agent, BuiltAgent, Deployment, Ending, EventStream, Handle, Server, reply};
use serde_json::json;

/// Answers every message. Whoever reaches it was let in by the rules before it.
struct Greeter;

impl Agent for Greeter {
    fn handle(&self, message: Admitted) -> EventStream {
        let words = message.into_message().text();
        // A bug in here is one failed answer, and the host goes on.
        assert!(!words.contains("panic"), "the greeter was asked to");
        reply::once(Ending::Message(format!("Hello! You said: {words}")))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let site = Path::new(env!("CARGO_MANIFEST_DIR")).join("site");
    let greeter = AgentSettings::new(Handle::parse("greeter")?, "Greeter");
    let mut deployment = Deployment::read_with(&site, &|_: &str| None, &ListenOverrides::free_ports())?
        .with_data_folder(std::env::temp_dir().join("forecourt-embed"))
        .with_agent(greeter, BuiltAgent::new(Greeter))
        // `site/endpoints/rooms.toml` promises what this function gives.
        .with_function("rooms.count", |_call| async { Ok(json!({ "free": 3 })) });

    let bound = Server::bind(&mut deployment).await?;
    println!("http://{}/", bound.addresses().shared.http);
    let until_ctrl_c = async { tokio::signal::ctrl_c().await.unwrap_or_default() };
    bound.run(deployment.build()?, until_ctrl_c).await?;
    Ok(())
}
