//! The features of other people's crates, once for all of ours. No code is here, and none of ours uses any.
//!
//! Cargo builds a crate of others with the features that the packages which are built ask for, so that another
//! selection of packages would build it again, with all that use it. Every crate of ours depends on this one, whose
//! manifest asks for what the whole program asks for wherever a part of it asks for less. It is read by Cargo's
//! resolver and linked into nothing. `dev/features` says where a selection differs, and `dev/features --write` writes
//! the manifest.
