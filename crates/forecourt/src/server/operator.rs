//! What answers on the operator's listener: for one domain, and which domain is meant.

use std::path::Path;
use std::sync::Arc;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use forecourt_admin::{Desk, Entrance};
use forecourt_server::{ReadinessCheck, Route, admin, behind_token, brief_health, metrics_behind, requested_host};
use http::{Request, StatusCode, Uri};
use parking_lot::Mutex;
use prometheus_client::registry::Registry;
use serde_json::json;

use super::admin_router::AdminRouter;
use super::certificates::CertificateKeeper;
use super::readiness::ready;
use super::reloader::Reloader;
use super::{DomainList, ServerCore, SharedParts, console, push, queue, reload};
use crate::data_folder;
use crate::running::Running;
use crate::settings::MonitoringSettings;

/// What is before the views of one domain on the operator's listener.
const PREFIX: &str = "/domains/";
/// What is behind a domain in the name by which browsers find its operator's views on this machine (RFC 6761 6.3).
pub(super) const OPERATOR_SUFFIX: &str = ".localhost";

/// What answers on the operator's listener for one domain: what is open to all, and the rest behind its entrance.
pub(super) struct OperatorView {
    guarded: Router,
    ready: ReadinessCheck,
    desk: Arc<Desk>,
    shown: Mutex<ViewState>,
    router: AdminRouter,
    /// What answers where the daemon is watched: on a socket of loopback, and on one that strangers reach.
    monitoring: AdminRouter,
    open_monitoring: AdminRouter,
}

/// What is shown now, and what opens the rest.
struct ViewState {
    registry: Arc<Registry>,
    entrance: Arc<Entrance>,
    /// What holds for what watches from elsewhere.
    monitoring: Option<MonitoringSettings>,
}

impl OperatorView {
    /// Shows nothing that is counted, until [`OperatorView::show`].
    pub(super) fn new(
        running: &Running,
        reloader: &Arc<Reloader>,
        keeper: &Arc<CertificateKeeper>,
        place: Arc<data_folder::Place>,
        shared: &SharedParts,
        entrance: Arc<Entrance>,
        data: &Path,
    ) -> Self {
        let live = running.live();
        let ready = ready(live.clone(), place.clone(), keeper.clone(), shared);
        let guarded = push::routes(live.clone(), place, running.content())
            .merge(queue::routes(live.clone()))
            .merge(super::questions::routes(live.clone()))
            .merge(reload::routes(reloader.clone(), live.clone()));
        let desk = console::desk(running, reloader.clone(), ready.clone(), data, entrance.clone());
        let monitoring = running.deployment().monitoring.clone();
        let shown = Mutex::new(ViewState { registry: Arc::default(), entrance, monitoring });
        let nothing = || AdminRouter::new(Router::new());
        let (router, monitoring, open_monitoring) = (nothing(), nothing(), nothing());
        Self { guarded, ready, desk, shown, router, monitoring, open_monitoring }
    }

    /// Shows what is counted in `registry` from here on.
    pub(super) fn show(&self, registry: Arc<Registry>) {
        let mut shown = self.shown.lock();
        shown.registry = registry;
        self.answer(&shown);
    }

    /// Is opened by this from here on, and its metrics by what the deployment that is served now says.
    pub(super) fn open_by(&self, entrance: Arc<Entrance>, running: &Running) {
        let mut shown = self.shown.lock();
        (shown.entrance, shown.monitoring) = (entrance, running.deployment().monitoring.clone());
        self.answer(&shown);
    }

    fn answer(&self, shown: &ViewState) {
        self.router.replace(self.answering(shown));
        let health = brief_health(self.ready.clone());
        // A socket that another deployment wanted shows no metrics of one that did not.
        let watched = |settings: Option<&MonitoringSettings>| match settings {
            Some(settings) => health.clone().merge(metrics_behind(shown.registry.clone(), settings.token.clone())),
            None => health.clone(),
        };
        let settings = shown.monitoring.as_ref();
        self.monitoring.replace(watched(settings));
        // Whatever the settings are by now: while they change, such a socket may outlive its token.
        self.open_monitoring.replace(watched(settings.filter(|settings| settings.token.is_some())));
    }

    fn answering(&self, ViewState { registry, entrance, .. }: &ViewState) -> Router {
        let open = admin(registry.clone(), self.ready.clone());
        let guarded = behind_token(self.guarded.clone(), entrance.token().cloned());
        // Under the lock of `shown`, so that the router and the console never go by two entrances.
        self.desk.opens_by(entrance.clone());
        open.merge(guarded).merge(forecourt_admin::router(&self.desk))
    }
}

/// What answers on the operator's listener: `/domains` with a list, and for one domain what begins with
/// `/domains/DOMAIN/`, and what is asked of the host `DOMAIN` or `DOMAIN.localhost`, which every browser finds on its own
/// machine. Everything else is for the first one.
#[derive(Clone)]
pub(super) struct AdminDispatch {
    pub(super) list: Arc<DomainList>,
}

impl AdminDispatch {
    fn listed(&self) -> Response {
        let names: Vec<String> = self.list.all().iter().map(|core| core.name.to_string()).collect();
        Json(json!({ "domains": names })).into_response()
    }

    /// The domain that a host of the operator's listener means.
    fn of_host(&self, host: &str) -> Option<Arc<ServerCore>> {
        let within = || self.list.named(host.strip_suffix(OPERATOR_SUFFIX)?);
        self.list.named(host).or_else(within)
    }

    /// What answers a request, which is then seen from within its domain.
    fn router(&self, request: &mut Request<Body>) -> Result<AdminRouter, Box<Response>> {
        let path = request.uri().path();
        if path == "/domains" {
            return Err(Box::new(self.listed()));
        }
        let Some(rest) = path.strip_prefix(PREFIX) else {
            let words = "the server is starting or stopping\n";
            let starting = || Box::new((StatusCode::SERVICE_UNAVAILABLE, words).into_response());
            // An unknown host means the first domain: probes and scrapers ask by address.
            let meant = requested_host(request).and_then(|host| self.of_host(host)).or_else(|| self.list.first());
            return meant.map(|core| core.operator.router.clone()).ok_or_else(starting);
        };
        let (name, _) = rest.split_once('/').unwrap_or((rest, ""));
        match self.list.named(name).zip(within(request.uri(), PREFIX.len() + name.len())) {
            Some((core, uri)) => {
                *request.uri_mut() = uri;
                Ok(core.operator.router.clone())
            }
            None => {
                let text = json!({ "error": "no such domain; /domains lists them" });
                Err(Box::new((StatusCode::NOT_FOUND, Json(text)).into_response()))
            }
        }
    }
}

impl Route for AdminDispatch {
    fn route(&self, request: &mut Request<Body>) -> Result<Router, Box<Response>> {
        self.router(request).map(|router| router.now())
    }
}

/// What answers where the daemon is watched from elsewhere: for the first domain, and for one what begins with
/// `/domains/DOMAIN/`.
#[derive(Clone)]
pub(super) struct MonitoringDispatch {
    pub(super) list: Arc<DomainList>,
    /// Whether strangers reach the socket.
    pub(super) is_open: bool,
}

impl Route for MonitoringDispatch {
    fn route(&self, request: &mut Request<Body>) -> Result<Router, Box<Response>> {
        let core = match request.uri().path().strip_prefix(PREFIX) {
            None => self.list.first().ok_or(StatusCode::SERVICE_UNAVAILABLE),
            Some(rest) => {
                let (name, _) = rest.split_once('/').unwrap_or((rest, ""));
                let named = self.list.named(name).zip(within(request.uri(), PREFIX.len() + name.len()));
                named.ok_or(StatusCode::NOT_FOUND).map(|(core, uri)| {
                    *request.uri_mut() = uri;
                    core
                })
            }
        };
        let core = core.map_err(|status| Box::new(status.into_response()))?;
        let OperatorView { monitoring, open_monitoring, .. } = &core.operator;
        Ok(if self.is_open { open_monitoring.now() } else { monitoring.now() })
    }
}

/// The same address without so many bytes at the beginning of its path.
fn within(uri: &Uri, skipped: usize) -> Option<Uri> {
    let rest = uri.path_and_query()?.as_str().get(skipped..)?;
    // `/domains/DOMAIN` without a slash is the root of that domain's views.
    let rest = if rest.starts_with('/') { rest.to_owned() } else { format!("/{rest}") };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(rest.parse().ok()?);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_views_of_a_domain_have_paths_of_their_own() {
        let uri = |path: &str| within(&path.parse().unwrap(), "/domains/a.example".len()).unwrap().to_string();
        assert_eq!(uri("/domains/a.example/queue/1?all=true"), "/queue/1?all=true");
        assert_eq!(uri("/domains/a.example"), "/");
    }
}
