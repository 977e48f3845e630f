//! Stores: what they all do, and what can go wrong around each.

mod acknowledged;
mod alike;
mod bounds;
mod clock;
mod content;
mod day;
mod disk_full;
mod failing_disk;
mod failing_line;
mod faults;
mod folders;
mod ids;
mod killed;
mod lost;
mod pages;
mod postgres;
mod privacy;
mod reads;
mod runs;
mod space;
mod suite;
mod trends;
