//! Listeners: what every connection, request and answer goes through before and after the
//! surfaces, whichever protocol they speak. Security sheet, sections 0, 1 and 12.
//!
//! | module | holds |
//! |---|---|
//! | [`Listener`] | accepting, HTTP/1.1 and HTTP/2, plain on loopback or TLS, draining |
//! | [`StreamListener`] | the same for protocols that are not HTTP |
//! | [`ListenerContext`] | host check, client address, default headers, panics, metrics |
//! | [`RequestId`], [`RouteClass`] | what a request is called in the log, in answers and in metrics |
//! | [`limits`] | every bound, each a setting |
//! | [`ClientCertificates`] | whether clients show certificates, and whose are taken |
//! | [`tls`], [`local_ca`] | certificates by name that are replaced while serving; an authority for development |
//! | [`admin()`] | health, readiness and metrics for the operator, and a door before the rest |
//! | [`brief_health`], [`metrics_behind`] | the same for what watches from elsewhere |
//!
//! ```no_run
//! # use std::sync::Arc;
//! # use forecourt_core::Entropy;
//! # use forecourt_server::{
//! #     AllowedHosts, FrontSettings, HttpLimits, Leaving, Listener, ListenerContext, Metrics, RouteClasses,
//! #     TrustedProxies,
//! # };
//! # async fn example(
//! #     router: axum::Router,
//! #     entropy: Arc<dyn Entropy>,
//! #     stop: tokio_util::sync::CancellationToken,
//! # ) -> Result<(), Box<dyn std::error::Error>> {
//! let context = ListenerContext::new(FrontSettings {
//!     hosts: AllowedHosts::new(["demo.localhost"], true),
//!     proxies: TrustedProxies::default(),
//!     limits: HttpLimits::default(),
//!     metrics: Arc::new(Metrics::default()),
//!     classes: RouteClasses::new([("mcp", "/mcp"), ("rest", "/~{handle}")]),
//!     entropy,
//!     hsts: None,
//!     leaving: Leaving::default(),
//! });
//! let listener = Listener::plain("127.0.0.1:8080".parse()?).await?;
//! listener.serve(context, router, stop).await;
//! # Ok(())
//! # }
//! ```

mod accept;
pub mod access_log;
mod admin;
mod answer;
mod certificate_facts;
mod client;
mod compression;
mod connections;
mod draining;
mod durations;
mod error;
mod exposition;
mod flood;
mod framing;
mod front;
mod head_facts;
mod hosts;
mod leaving;
pub mod limits;
mod listener;
pub mod local_ca;
mod metrics;
mod monitoring;
mod peer;
mod plain;
mod request_id;
mod route_class;
mod stream;
mod strict;
pub mod tls;
mod wire;

pub use admin::{AdminToken, ReadinessCheck, admin, behind_token};
pub use certificate_facts::{CertificateFacts, certificate_facts};
pub use client::TrustedProxies;
pub use error::{ServeError, TlsError};
pub use front::Route;
pub use hosts::{AllowedHosts, PlainOrigin};
pub use leaving::Leaving;
pub use limits::HttpLimits;
pub use listener::Listener;
pub use metrics::{DOMAIN_LABELS_MAX, DomainLabel, Metrics};
pub use monitoring::{brief_health, metrics_behind};
pub use peer::{FrontSettings, ListenerContext, ServerName};
pub use request_id::RequestId;
pub use route_class::{RouteClass, RouteClasses};
pub use stream::{Connection, Speak, Stream, StreamListener, StreamRequest, StreamRequests, StreamSettings};
pub use strict::requested_host;
pub use tls::{Authorities, Certificates, ClientCertificates};
