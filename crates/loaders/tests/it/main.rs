//! Files as people write them, read to items.

mod bad_input;
