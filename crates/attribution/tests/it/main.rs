//! Records as whoever keeps and verifies them sees them.

mod chains;
mod checkpoints;
mod copies;
mod disk;
mod files;
mod heads;
mod kept;
mod nodes;
mod processes;
mod retention;
mod shared;
mod support;
mod vector;
