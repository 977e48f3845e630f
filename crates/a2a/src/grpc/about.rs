//! What a client of gRPC asks before it calls: which services there are (reflection), and whether they
//! serve (health). Both are gRPC's own protocols, on the same listeners.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use forecourt_host::Host;
use futures::stream::BoxStream;
use tonic::{Request, Response, Status};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_server::{Health, HealthServer};
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};
use tonic_reflection::server::Builder;

use super::schema::DESCRIPTORS;

const REFLECTION: &str = "/grpc.reflection.v1.ServerReflection/{method}";
const OLD_REFLECTION: &str = "/grpc.reflection.v1alpha.ServerReflection/{method}";
const HEALTH: &str = "/grpc.health.v1.Health/{method}";
/// The paths that [`about`] answers.
pub(crate) const ABOUT_PATHS: [&str; 3] = [REFLECTION, OLD_REFLECTION, HEALTH];
/// The services whose health can be asked for; the empty name is the whole host's.
const SERVICES: [&str; 3] = ["", "lf.a2a.v1.A2AService", "a2a.v1.A2AService"];
/// How often somebody who watches is told of a change.
const WATCHED_EVERY: Duration = Duration::from_secs(5);

/// The routes of [`ABOUT_PATHS`]: server reflection, old and new, and the health service.
pub(crate) fn about(host: Arc<Host>) -> Router {
    let describing = || Builder::configure().register_encoded_file_descriptor_set(DESCRIPTORS);
    let checked = "the compiler of the descriptors has checked them";
    Router::new()
        .route_service(REFLECTION, describing().build_v1().expect(checked))
        .route_service(OLD_REFLECTION, describing().build_v1alpha().expect(checked))
        .route_service(HEALTH, HealthServer::new(OfHost(host)))
}

/// The health of a host: it serves while it takes messages.
struct OfHost(Arc<Host>);

impl OfHost {
    async fn status(&self) -> ServingStatus {
        match self.0.ready().await {
            Ok(()) => ServingStatus::Serving,
            Err(_) => ServingStatus::NotServing,
        }
    }
}

fn health_response(status: ServingStatus) -> HealthCheckResponse {
    HealthCheckResponse { status: status.into() }
}

#[tonic::async_trait]
impl Health for OfHost {
    async fn check(&self, request: Request<HealthCheckRequest>) -> Result<Response<HealthCheckResponse>, Status> {
        match SERVICES.contains(&request.get_ref().service.as_str()) {
            true => Ok(Response::new(health_response(self.status().await))),
            false => Err(Status::not_found("there is no such service here")),
        }
    }

    type WatchStream = BoxStream<'static, Result<HealthCheckResponse, Status>>;

    /// The status now, and again whenever it has changed; of a service that is none, that it is unknown.
    async fn watch(&self, request: Request<HealthCheckRequest>) -> Result<Response<Self::WatchStream>, Status> {
        let is_known = SERVICES.contains(&request.get_ref().service.as_str());
        let host = Self(self.0.clone());
        Ok(Response::new(Box::pin(async_stream::stream! {
            let mut last = None;
            loop {
                let status = if is_known { host.status().await } else { ServingStatus::ServiceUnknown };
                if last != Some(status) {
                    yield Ok(health_response(status));
                    last = Some(status);
                }
                tokio::select! {
                    () = host.0.stopping().cancelled() => return,
                    () = tokio::time::sleep(WATCHED_EVERY) => {}
                }
            }
        })))
    }
}
