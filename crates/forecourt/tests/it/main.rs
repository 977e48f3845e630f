//! The host as a library.

mod replace;
