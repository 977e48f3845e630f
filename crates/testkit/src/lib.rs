//! What tests share: hand-set clocks, counted entropy, vectors, judged questions and a scripted agent.

mod ambient;
mod bucket_server;
mod card_provider;
mod dear;
mod discord;
pub mod haproxy;
pub mod judged;
mod matrix;
pub mod nats;
mod payment_processor;
mod pebble;
pub mod pgbouncer;
mod port;
pub mod postgres;
mod proven;
mod scripted;
mod search_engine;
mod slack;
pub mod store_suite;
mod synapse;
mod telegram;
mod vectors;

pub use ambient::{CountedEntropy, HandClock, HandMachine};
pub use bucket_server::BucketServer;
pub use card_provider::{CARD_KEY, CardBooks, CardFault, CardNotice, CardProvider, sign_notice};
pub use dear::dear;
pub use discord::{
    CommandState, DISCORD_APPLICATION, DISCORD_BOT, DISCORD_ROLE, DISCORD_TOKEN, DiscordBooks, DiscordDouble,
    DiscordMessage, GatewayOrder, discord_command, discord_public_key, discord_signature,
};
pub use matrix::{MATRIX_BOT, MATRIX_TOKEN, MatrixBooks, MatrixDouble, MatrixFault, MatrixMessage};
pub use payment_processor::{PROCESSOR_SECRET, PaymentProcessor, ProcessorBooks, ProcessorFault};
pub use pebble::{Pebble, PebbleOptions};
pub use port::free_port;
pub use proven::proven;
pub use scripted::{ScriptedAgent, Step, card};
pub use search_engine::{OsmemServer, SearchDouble, SearchEngine};
pub use slack::{
    SLACK_BOT, SLACK_SECRET, SLACK_TOKEN, SlackBooks, SlackDouble, SlackMessage, slack_event, slack_signature,
};
pub use synapse::{SYNAPSE_NAME, SYNAPSE_SECRET, Synapse, SynapseApplication};
pub use telegram::{TELEGRAM_BOT, TELEGRAM_TOKEN, TelegramBooks, TelegramDouble, TelegramMessage};
pub use vectors::{data, vector_files, vectors};
