//! NLWeb as its clients see it: a host in memory, asked without a socket.
//!
//! | module | holds |
//! |---|---|
//! | `s3_1_site` | 3.1: who is asked, and for which part |
//! | `s3_request` | 3: what is read, and what is wrong with it |
//! | `s4_response` | 4: the four types of responses |
//! | `s4_2_await` | 4.2: promises checked on and cancelled |
//! | `s6_stream` | 6: answers as they come |
//! | `policy` | PolicyPart 5.5: questions that go on after a refusal |
//! | `s7_http` | 7: paths, methods, statuses, refusals |
//! | `told_again` | 4.1.1, 6.1: what is known of an answer while it is made |
//! | `v0_54` | the older dialect, and its flat form |
//! | `tools` | appendix A: what carriers of tools get |
//! | `client` | appendix B, by a client that knows nothing else |
//! | `widget` | the search box for other sites |
//! | `vectors` | pairs of requests and responses, as data |

mod answer;
mod client;
mod policy;
mod s3_1_site;
mod s3_request;
mod s4_2_await;
mod s4_response;
mod s6_stream;
mod s7_http;
mod support;
mod told_again;
mod tools;
mod v0_54;
mod vectors;
mod widget;
