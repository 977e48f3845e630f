//! Models that turn texts into vectors, and those that compare two texts.

mod cross_encoder;
mod minilm;
mod models;
