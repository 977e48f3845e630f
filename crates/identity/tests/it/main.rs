//! Who is believed to be who, and by what proof.

mod api_keys;
mod bots;
mod hostile;
mod s5_host_keys;
mod s7_bearer;
mod s7_evidence;
mod s7_http_signatures;
mod s8_sessions;
mod support;
mod vectors;
