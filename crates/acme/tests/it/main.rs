//! Certificates that are ordered by itself.

mod pebble;
