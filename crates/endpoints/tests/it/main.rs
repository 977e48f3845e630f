//! Endpoints as a deployment holds them: their files, what answers them, and everything that fails.
#![allow(missing_docs)]

mod loading;
mod manual;
mod python;
mod s12_1_compositions;
mod s12_2_functions;
mod s12_3_bodies;
mod s12_3_requests;
mod s12_3_services;
mod support;
mod upstream;
