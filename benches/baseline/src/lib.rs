//! Small honest servers that do the same work as ours with nothing around it: what the benches of time and
//! those of instructions compare with.

pub mod a2a;
pub mod ask;
pub mod bare;
pub mod items;
pub mod mcp;
pub mod proxy;
pub mod rest;
pub mod text;
