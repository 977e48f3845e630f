//! The host as a library.

mod http;
mod replace;
