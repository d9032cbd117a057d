//! The OpenAPI description of every route, generated from the annotations of the handlers.

mod answers;
mod complete;
mod constraints;
mod examples;
mod headers;
mod parameters;
mod sample;

use std::collections::BTreeSet;
use std::sync::OnceLock;

use axum::body::Bytes;
use chassis::Auth;
use serde_json::{Value, json};

use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme,
};
use utoipa::openapi::{
    ComponentsBuilder, ExternalDocs, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder,
};
use utoipa_axum::router::OpenApiRouter;

use crate::auth::permission::MOUNTS;
use crate::oidc::{Oidc, OidcConfig};
use crate::routes;
use crate::routes::book::BEGIN;

const ABOUT: &str = "\
Durable workflows on NATS. The API below `/elsa/api` is that of Elsa Workflows 3, with additions; \
the same routes are mounted below `/api`. Workflows that begin with or wait at an HttpEndpoint are \
reached below `/workflows`.

Errors are problem details (RFC 9457). `Idempotency-Key` is honoured on every request that starts \
or changes something: the same key means the same change, and gets the same answer. \
`Prefer: respond-async` asks for the answer as soon as something is accepted, `Prefer: wait=5` for \
it within five seconds. Without credentials or a permission, the answer is 401 or 403: \
`x-permissions` has the permissions of which a caller needs one; where it is empty, it needs none.

Answers have no members but those that are described here. A newer server may send more of them.";

/// The description of the API, as a server with these schemes of authentication serves it; the one
/// with all of them is kept in `schema/api`.
pub(crate) fn openapi_text(auth: Auth) -> &'static str {
    static OPEN: OnceLock<String> = OnceLock::new();
    static GUARDED: OnceLock<String> = OnceLock::new();
    let text = if auth == Auth::NONE { &OPEN } else { &GUARDED };
    text.get_or_init(|| printed(&complete::completed(json!(document()), auth)))
}

/// The description as a server serves it: with the issuer of tokens, if there is one.
pub(crate) fn openapi(auth: Auth, oidc: Option<&Oidc>) -> Bytes {
    let Some(oidc) = oidc else { return Bytes::from_static(openapi_text(auth).as_bytes()) };
    let text = oidc.description.get_or_init(|| {
        let mut document = complete::completed(json!(document()), auth);
        name_issuer(&mut document, oidc.config());
        printed(&document).into()
    });
    text.clone()
}

/// The description of a server that is served below a path of a proxy.
pub(crate) fn below(text: &Bytes, base: &str) -> Bytes {
    let mut document: Value = serde_json::from_slice(text).unwrap_or_default();
    document["servers"] = json!([{"url": base}]);
    document["externalDocs"]["url"] = json!(format!("{base}{BEGIN}"));
    printed(&document).into()
}

fn printed(document: &Value) -> String {
    format!("{document:#}\n")
}

/// Adds the scheme of an issuer's tokens, beside the others.
fn name_issuer(document: &mut Value, config: &OidcConfig) {
    let scheme = match &config.jwks_url {
        None => json!({"type": "openIdConnect", "openIdConnectUrl": config.discovery_url(),
            "description": "An access token of this issuer"}),
        Some(_) => json!({"type": "http", "scheme": "bearer", "bearerFormat": "JWT",
            "description": format!("An access token of {}", config.issuer)}),
    };
    if let Some(schemes) = document.pointer_mut("/components/securitySchemes") {
        schemes["oidc"] = scheme;
    }
    if let Some(needed) = document.get_mut("security").and_then(Value::as_array_mut) {
        needed.push(json!({"oidc": []}));
    }
}

/// The document as the handlers' annotations have it.
#[cfg(test)]
fn plain() -> Value {
    json!(document())
}

fn document() -> OpenApi {
    let info = InfoBuilder::new()
        .title("Staunch")
        .version(chassis::version())
        .description(Some(ABOUT))
        .license(Some(LicenseBuilder::new().name("Apache-2.0").build()))
        .build();
    let key = ApiKeyValue::with_description("Authorization", "`ApiKey <key>`");
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .bearer_format("JWT")
        .description(Some("The access token of a login"))
        .build();
    let components = ComponentsBuilder::new()
        .security_scheme("apiKey", SecurityScheme::ApiKey(ApiKey::Header(key)))
        .security_scheme("bearer", SecurityScheme::Http(bearer))
        .build();
    let base = OpenApiBuilder::new()
        .info(info)
        .components(Some(components))
        .external_docs(Some(book()))
        .security(Some(
            ["apiKey", "bearer"]
                .map(|scheme| SecurityRequirement::new(scheme, Vec::<String>::new())),
        ))
        .build();
    let described = OpenApiRouter::with_openapi(base)
        .merge(routes::root())
        .nest(MOUNTS[0], routes::api().merge(routes::documents()));
    let mut document = described.into_openapi();
    name_operations(&mut document);
    document
}

/// The API browser shows this link.
fn book() -> ExternalDocs {
    let mut book = ExternalDocs::new(BEGIN);
    book.description = Some("The book".to_owned());
    book
}

/// Gives every operation a unique name: `get_workflow_instances_id`.
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
