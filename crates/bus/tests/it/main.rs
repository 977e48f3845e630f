//! Buses: what they all do, and what one over NATS hears.

mod alike;
mod topics;
