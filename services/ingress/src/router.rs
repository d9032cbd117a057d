//! All routes, and the layers that every request goes through: trace, headers for browsers,
//! problems, panics, CORS, origin, load, authentication, idempotency.
//!
//! Each layer of the router copies and boxes the service below it for each request. So what comes
//! directly after each other is one layer: [`answer`] and [`enter`].

use std::any::Any;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::CONNECTION;
use axum::http::{HeaderName, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use axum::{Extension, Router, middleware};
use model::limits;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::{AllowOrigin, CorsLayer};
use utoipa_swagger_ui::{Config as SwaggerConfig, SwaggerUi};

use crate::auth::caller::Caller;
use crate::auth::permission::{MOUNTS, WORKFLOWS};
use crate::body::BytesMax;
use crate::routes::Routes;
use crate::{
    App, Problem, auth, endpoint, executors, finish, forwarded, head, idempotency, load, routes,
    shield, trace,
};

/// All routes of one ingress.
pub(crate) fn router(app: Arc<App>) -> Router {
    let config = &app.config;
    let small = config.body_bytes_max;
    let api = of_size(&app, routes::api(), small).merge(of_size(
        &app,
        routes::documents(),
        small.max(limits::DEFINITION_BYTES_MAX),
    ));
    let workflows = Routes::default()
        .route(WORKFLOWS, any(endpoint::handle))
        .route("/workflows/", any(endpoint::handle))
        .route("/workflows/{*path}", any(endpoint::handle));
    let mut router = of_size(&app, routes::root(), small).merge(of_size(&app, workflows, small));
    for mount in MOUNTS {
        router = router.nest(mount, api.clone());
    }
    // The description is sent to no other server: Swagger's online validator is off.
    // Its address is relative: the page may be below a path of a proxy.
    let docs = SwaggerConfig::from("../openapi.json").validator_url("none");
    let docs = SwaggerUi::new("/docs").config(docs);
    let broken = Arc::clone(&app);
    let panicked = move |panic: Box<dyn Any + Send>| finish::panicked(&broken, &*panic);
    router
        .merge(docs)
        .merge(routes::book::routes())
        .merge(routes::studio::routes())
        .fallback(finish::nothing_here)
        .layer(middleware::from_fn_with_state(Arc::clone(&app), enter))
        .layer(cors(config.cors_origins.values()))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::from_fn_with_state(Arc::clone(&app), answer))
        .with_state(app)
}

/// Traces a request, and completes its answer.
pub(crate) async fn answer(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let shared = Arc::clone(&app);
    let run = |mut request: Request| async move {
        let settled = head::check(&request)
            .and_then(|()| forwarded::settle(&shared.config.trusted_proxies, &mut request));
        let is_secure = shield::is_secure(&request);
        let response = match settled {
            Ok(()) => next.run(request).await,
            Err(problem) => {
                let mut response = problem.into_response();
                // A proxy may see the next request elsewhere in the bytes that follow.
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                response
            }
        };
        let mut response = finish::finish(response, &method, &path).await;
        executors::mention(&shared, &mut response);
        shield::shield(&shared.config, &mut response, &path, is_secure);
        auth::challenge(&shared, &mut response);
        response
    };
    trace::observe(&app, request, run).await
}

/// Lets a request in: its origin is allowed, its URI can be looked for, there is room for it, and its caller
/// is known.
async fn enter(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let is_allowed = auth::origin::guard(&app, &request);
    if let Err(problem) = is_allowed.and_then(|()| head::check_nul(request.uri())) {
        return problem.into_response();
    }
    let shielded = shield::must_be_secure(&app.config, &request);
    if let Err(problem) =
        shielded.and_then(|()| shield::must_not_be_a_worker(&app.config, &request))
    {
        return problem.into_response();
    }
    if load::is_about_the_server(request.uri().path()) {
        return known(&app, request, next).await.unwrap_or_else(Problem::into_response);
    }
    let standing = match app.rates.of_address(&request) {
        Ok(standing) => standing,
        Err(problem) => return problem.into_response(),
    };
    let run =
        |request| async { known(&app, request, next).await.unwrap_or_else(Problem::into_response) };
    let mut response = load::admit(&app, request, run).await;
    if let Some(standing) = standing {
        standing.show(response.headers_mut());
    }
    response
}

/// Lets a request in whose caller is known, and has not sent too many.
async fn known(app: &App, request: Request, next: Next) -> Result<Response, Problem> {
    let request = auth::guard(app, request).await?;
    let caller = request.extensions().get::<Caller>();
    let standing = match caller.filter(|_| !load::is_about_the_server(request.uri().path())) {
        Some(caller) => app.rates.of_caller(caller)?,
        None => None,
    };
    let mut response = next.run(request).await;
    if let Some(standing) = standing {
        standing.show(response.headers_mut());
    }
    Ok(response)
}

/// These routes, with this limit for bodies, and with answers to repeated idempotency keys.
fn of_size(app: &Arc<App>, routes: Routes, bytes_max: usize) -> Router<Arc<App>> {
    let routes: Router<Arc<App>> = routes.into();
    routes
        .layer(middleware::from_fn_with_state(Arc::clone(app), idempotency::replay))
        .layer(Extension(BytesMax(bytes_max)))
}

/// Allows nothing unless origins are configured.
fn cors(origins: &[String]) -> CorsLayer {
    let origins: Vec<HeaderValue> =
        origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok()).collect();
    if origins.is_empty() {
        return CorsLayer::new();
    }
    let headers = [
        "authorization",
        "content-type",
        "idempotency-key",
        "if-match",
        "last-event-id",
        "prefer",
        "traceparent",
        "x-requested-with",
        "x-signalr-user-agent",
    ];
    let exposed = [
        "content-disposition",
        "etag",
        "link",
        "location",
        "ratelimit",
        "ratelimit-policy",
        "retry-after",
        "traceparent",
        "x-elsa-response",
        "x-elsa-workflow-cannot-start",
        "x-elsa-workflow-instance-id",
        "x-staunch-detail",
    ];
    CorsLayer::new()
        .allow_origin(AllowOrigin::list(origins))
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        .allow_headers(headers.map(HeaderName::from_static))
        .expose_headers(exposed.map(HeaderName::from_static))
}
