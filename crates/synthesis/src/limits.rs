//! Every bound of contracts that are made while serving, with its unit. What an operator would change is a key of
//! [`crate::settings`].

use std::time::Duration;

/// How long an ended contract is remembered, so that whoever presents it learns that it has ended.
pub const TOMBSTONE_TTL: Duration = Duration::from_secs(24 * 60 * 60);
/// Bytes of a contract as it is stored: its endpoint, its plan and its terms.
pub const CONTRACT_BYTES_MAX: usize = 256 * 1024;
/// Bytes of a proposal, more or less as JSON: two schemas as large as schemas may be, and what is said of them.
pub const PROPOSAL_BYTES_MAX: usize = 192 * 1024;
/// Characters of a sentence of a proposal: its description, and each text of its semantic block.
pub const SENTENCE_CHARS_MAX: usize = 2_000;
/// Endpoints that are named in place of one that can't be made.
pub const COUNTER_PROPOSALS_MAX: usize = 3;
/// Endpoints that are looked at for those, in the order of their paths.
pub(crate) const COUNTER_LOOKED_AT_MAX: usize = 10_000;
/// References and combinations of a schema that are followed for one question about it. What lies deeper is not
/// known.
pub(crate) const FOLLOWED_MAX: usize = 24;
/// Pairs of schemas that are compared to learn whether one value fits another place.
pub(crate) const FIT_CHECKS_MAX: u32 = 2_000;
/// Schemas that one field of a described endpoint is copied from. What lies beyond is let through.
pub(crate) const COPIED_SCHEMAS_MAX: usize = 200;
/// Words of a sentence that are read behind one word for what that is of, all phrases in one another together.
pub(crate) const PHRASE_WORDS_MAX: usize = 16;
/// Places of a sentence that are looked at for whose one property is.
pub(crate) const MENTIONS_MAX: usize = 16;
/// Words of a sentence that the name of one entity may have.
pub(crate) const NAME_WORDS_MAX: usize = 4;
/// Members of one schema whose meanings are looked at.
pub(crate) const MEMBERS_MAX: usize = 400;
/// Objects in one another, of one schema, whose members are looked at.
pub(crate) const MEMBER_DEPTH_MAX: usize = 4;
/// Endpoints that are looked at in one search, each once for each value that it could give.
pub const SEARCH_NODES_MAX: usize = 50_000;
/// Ways to come to one value that are compared.
pub(crate) const SEARCH_CHOICES_MAX: usize = 32;
/// Endpoints that come near and are not called, of which a plan says why.
pub(crate) const REJECTED_TOLD_MAX: usize = 5;
/// Contracts that are remembered, ended ones included, for each that may be open: of one agent, and of all.
pub(crate) const KNOWN_PER_CONTRACT_MAX: usize = 2;
/// How long a caller waits for the store to tell of contracts. Long enough to read all of them after a start.
pub(crate) const CATCH_UP_TIME_MAX: Duration = Duration::from_secs(60);
/// How often a contract is tried to be written because another process wrote in between.
pub const APPEND_TRIES_MAX: usize = 64;
/// When to try again after a bound on contracts was met: some may have expired by then.
pub(crate) const CAPACITY_RETRY_AFTER: Duration = Duration::from_secs(60);
/// Contracts that are ended at once, so that they are written in few commits.
pub(crate) const ENDINGS_AT_ONCE: usize = 64;
/// Definitions of contracts that are read at once, for a page of a list.
pub(crate) const DEFINITIONS_READ_AT_ONCE: usize = 16;
/// Plans that are kept ready to run.
pub(crate) const COMPILED_PLANS_MAX: u64 = 1_000;
/// Characters of a reason or an actor's name that is kept with the end of a contract.
pub const REASON_CHARS_MAX: usize = 500;

/// How long an agent's looks at the gate are counted together.
pub(crate) const RATE_WINDOW: Duration = Duration::from_secs(60);
/// Agents whose looks at the gate are counted at once.
pub(crate) const RATED_AGENTS_MAX: usize = 10_000;

/// How long a look at the gate that led to no contract can be asked about.
pub(crate) const ATTEMPT_TTL: Duration = Duration::from_secs(60 * 60);
/// Such looks of one agent that are kept.
pub(crate) const ATTEMPTS_PER_AGENT_MAX: usize = 64;
/// Such looks of all agents that are kept.
pub const ATTEMPTS_MAX: usize = 10_000;

/// How long refused proposals of a session are counted together: from the last one on.
pub(crate) const TURNS_TTL: Duration = Duration::from_secs(60 * 60);
/// Sessions whose refused proposals are counted at once.
pub(crate) const TURN_SESSIONS_MAX: usize = 10_000;

/// How long a proposal that was looked at later can be asked for, from its decision on.
pub(crate) const PROPOSAL_TTL: Duration = Duration::from_secs(60 * 60);
/// Proposals of one agent that are looked at, or can be asked for, at once.
pub(crate) const PROPOSALS_PER_AGENT_MAX: usize = 16;
/// Such proposals of all agents.
pub(crate) const PROPOSALS_MAX: usize = 1_000;
