//! The host, driven as protocols drive it.

mod clock;
mod conversations;
mod courier;
mod deliver;
mod dice;
mod faulty;
mod forward;
mod given;
mod guardrails;
mod idempotency;
mod invoke;
mod issuance;
mod lifecycle;
mod limits;
mod nodes;
mod operator_queue;
mod receive;
mod rules;
mod simulation;
mod slow_answers;
mod stored;
mod strangers;
mod support;
mod tasks;
mod tracked;
