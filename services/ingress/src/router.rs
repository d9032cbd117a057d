//! Everything that is mounted, and what every request passes on its way: trace, problems, panics,
//! CORS, origin, load, authentication, idempotency.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderName, HeaderValue, Method};
use axum::routing::any;
use axum::{Extension, Router, middleware};
use model::limits;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::{AllowOrigin, CorsLayer};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{ComponentsBuilder, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder};
use utoipa_axum::router::OpenApiRouter;
use utoipa_swagger_ui::{Config as SwaggerConfig, SwaggerUi};

use crate::auth::permission::MOUNTS;
use crate::body::BytesMax;
use crate::{App, Config, auth, endpoint, finish, idempotency, load, routes, trace};

const ABOUT: &str = "\
Durable workflows on NATS. The API below `/elsa/api` is that of Elsa Workflows 3, with additions; \
the same routes are mounted below `/api`. Workflows that begin with or wait at an HttpEndpoint are \
reached below `/workflows`.

Errors are problem details (RFC 9457). `Idempotency-Key` is honoured on every request that starts \
or changes something: the same key means the same change, and gets the same answer. \
`Prefer: respond-async` asks for the answer as soon as something is accepted, `Prefer: wait=5` for \
it within five seconds.";

/// All routes of one ingress.
pub(crate) fn router(app: Arc<App>) -> Router {
    let config = &app.config;
    let api: Router<Arc<App>> = api(config).into();
    let root: Router<Arc<App>> = routes::root().into();
    let mut router =
        root.layer(limit(config.body_bytes_max)).layer(bytes_max(config.body_bytes_max));
    for mount in MOUNTS {
        router = router.nest(mount, api.clone());
    }
    let docs = SwaggerUi::new("/docs").config(SwaggerConfig::from("/openapi.json"));
    router
        .merge(docs)
        .route(endpoint::BASE, any(endpoint::handle))
        .route("/workflows/", any(endpoint::handle))
        .route("/workflows/{*path}", any(endpoint::handle))
        .fallback(finish::nothing_here)
        .layer(middleware::from_fn_with_state(Arc::clone(&app), idempotency::replay))
        .layer(middleware::from_fn_with_state(Arc::clone(&app), auth::guard))
        .layer(middleware::from_fn_with_state(Arc::clone(&app), load::admit))
        .layer(middleware::from_fn_with_state(Arc::clone(&app), auth::origin::guard))
        .layer(cors(&config.cors_origins))
        .layer(CatchPanicLayer::custom(finish::panicked))
        .layer(middleware::from_fn(finish::finish))
        .layer(middleware::from_fn_with_state(Arc::clone(&app), trace::observe))
        .with_state(app)
}

fn api(config: &Config) -> routes::Routes {
    let documents = config.body_bytes_max.max(limits::DEFINITION_BYTES_MAX);
    let small = config.body_bytes_max;
    let documents = routes::documents().layer(limit(documents)).layer(bytes_max(documents));
    routes::api().layer(limit(small)).layer(bytes_max(small)).merge(documents)
}

fn limit(bytes: usize) -> DefaultBodyLimit {
    DefaultBodyLimit::max(bytes)
}

fn bytes_max(bytes: usize) -> Extension<BytesMax> {
    Extension(BytesMax(bytes))
}

/// Allows nothing unless origins are configured.
fn cors(origins: &[String]) -> CorsLayer {
    let origins: Vec<HeaderValue> =
        origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok()).collect();
    if origins.is_empty() {
        return CorsLayer::new();
    }
    let headers = ["authorization", "content-type", "idempotency-key", "prefer", "traceparent"];
    let exposed = ["location", "retry-after", "x-elsa-workflow-instance-id", "traceparent"];
    CorsLayer::new()
        .allow_origin(AllowOrigin::list(origins))
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        .allow_headers(headers.map(HeaderName::from_static))
        .expose_headers(exposed.map(HeaderName::from_static))
}

/// The description of the API, as it is served and kept in `schema/api`.
pub(crate) fn openapi_text() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let mut text = document().to_pretty_json().unwrap_or_default();
        text.push('\n');
        text
    })
}

fn document() -> OpenApi {
    let info = InfoBuilder::new()
        .title("Staunch")
        .version(chassis::version())
        .description(Some(ABOUT))
        .license(Some(LicenseBuilder::new().name("Apache-2.0").build()))
        .build();
    let key = ApiKeyValue::with_description("Authorization", "`ApiKey <key>`");
    let components = ComponentsBuilder::new()
        .security_scheme("apiKey", SecurityScheme::ApiKey(ApiKey::Header(key)))
        .build();
    let base = OpenApiBuilder::new()
        .info(info)
        .components(Some(components))
        .security(Some([SecurityRequirement::new("apiKey", Vec::<String>::new())]))
        .build();
    let described = OpenApiRouter::with_openapi(base)
        .merge(routes::root())
        .nest(MOUNTS[0], api(&Config::default()));
    let mut document = described.into_openapi();
    name_operations(&mut document);
    document
}

/// Gives every operation a name of its own: `get_workflow_instances_id`.
fn name_operations(document: &mut OpenApi) {
    let prefix = format!("{}/", MOUNTS[0]);
    let below: BTreeSet<String> = document
        .paths
        .paths
        .keys()
        .filter_map(|path| path.strip_prefix(&prefix))
        .map(str::to_owned)
        .collect();
    for (path, item) in &mut document.paths.paths {
        let in_api = path.strip_prefix(&prefix);
        let name = in_api.unwrap_or(path).trim_start_matches('/');
        let is_link = in_api.is_none() && below.contains(name);
        let words: String = name
            .chars()
            .filter(|c| !"{}".contains(*c))
            .map(|c| if c.is_alphanumeric() { c } else { '_' })
            .collect();
        let suffix = if is_link { "_link" } else { "" };
        let operations = [
            ("get", &mut item.get),
            ("put", &mut item.put),
            ("post", &mut item.post),
            ("delete", &mut item.delete),
        ];
        for (method, operation) in operations {
            if let Some(operation) = operation {
                operation.operation_id = Some(format!("{method}_{words}{suffix}"));
            }
        }
    }
}
