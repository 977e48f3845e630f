//! The hub and the endpoints of agents, as clients of both versions see them.
//!
//! | module | holds |
//! |---|---|
//! | `s3_routing` | hub card 3: whom a message is for |
//! | `s4_endpoints` | hub card 2, 4, 5, 7: what is served where |
//! | `policy` | refusals on this protocol |
//! | `requests` | what is no request, on each wire |
//! | `tasks`, `streams`, `listing`, `push` | the operations, their faults and their bounds |
//! | `skills` | what is called by name with data |
//! | `content` | what goes in and what comes out |
//! | `again` | a message that is sent twice |
//! | `interop` | what clients of others' making stumbled over |
//! | `strangers` | who guesses the name of a conversation |
//! | `wires` | one task, whatever wire it was begun over |

mod again;
mod answer;
mod content;
mod interop;
mod listing;
mod payment;
mod policy;
mod push;
mod requests;
mod s3_routing;
mod s4_endpoints;
mod skills;
mod strangers;
mod streams;
mod support;
mod tasks;
mod wire;
mod wires;
