//! This module has the refusals of a protocol's own methods, without its status numbers. Section 6.1, tier A.

use serde_json::{Map, Value};

/// Why a protocol refused a method of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct NativeRefusal {
    /// What the caller can do about it.
    pub reason: NativeRefusalKind,
    /// The protocol's name for it.
    pub code: String,
    /// A sentence for the caller.
    pub message: String,
    /// What helps to recover, by name.
    pub details: Map<String, Value>,
}

/// The kind of a [`NativeRefusal`]: what its caller can do about it, whatever number the
/// protocol has for that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NativeRefusalKind {
    /// Write it differently: it can't be read.
    Malformed,
    /// Say and prove who calls.
    Unidentified,
    /// Bring authority that is not there yet.
    Authority,
    /// Do not ask again.
    Forbidden,
    /// Name something that is there.
    Absent,
    /// Take another method.
    NotAllowed,
    /// Be quicker, or wait longer.
    TimedOut,
    /// Look how things stand: it contradicts that.
    Conflict,
    /// Turn to somebody else: it will not come back.
    Gone,
    /// Give what is taken: it is understood, and does not fit.
    Unfit,
    /// Ask less often.
    TooOften,
    /// Act within the scopes that are held.
    BeyondScope,
    /// Act within the zone of the caller.
    BeyondZone,
    /// Take a method that is one.
    NoMethod,
    /// Take a path that keeps the grammar.
    NoPath,
    /// Do without a contract, or have another one.
    NoContract,
    /// Propose something else.
    Rejected,
    /// Leave out a part of the protocol that is not here.
    Unsupported,
    /// Try again later.
    Unavailable,
    /// Look at what the agent says that the work was given to: it failed.
    DelegateFailed,
    /// Bring a chain of authority that can be verified.
    ChainBroken,
    /// Nothing: the host failed.
    Failed,
}
