//! The permission that each route requires, named as Elsa names it. This table is the only place.

use std::collections::BTreeSet;

use axum::http::Method;

/// The credentials that a route requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// None; the route may require something else, such as a token.
    Public,
    /// None if only this machine can reach the server; otherwise a valid key.
    Inside,
    /// A valid key; the handler checks which of these permissions the request requires.
    Key(&'static [&'static str]),
    /// This permission.
    Permission(&'static str),
    /// One of these permissions.
    OneOf(&'static [&'static str]),
    /// The route is not in the table: every caller is refused.
    Unlisted,
}

use Need::{Inside, Key, OneOf, Permission as P, Public, Unlisted};

/// The paths at which the API is mounted.
pub(crate) const MOUNTS: [&str; 2] = ["/elsa/api", "/api"];

/// The path below which workflows receive requests.
pub(crate) const WORKFLOWS: &str = "/workflows";

/// Elsa's name of the permission to pause, resume and drain.
const MANAGE_RUNTIME: &str = "ManageWorkflowRuntime";

/// The permission to see which labels versions have, alone and in lists of versions.
pub(crate) const READ_VERSION_LABELS: &str = "read:workflow-definition-labels";

/// The need of the hub.
const HUB: Need = Key(&["read:workflow-instances"]);
const NEGOTIATION: Need = Key(&[]);

/// The routes below each mount.
const API: &[(&str, &str, Need)] = &[
    ("GET", "/workflow-definitions", P("read:workflow-definitions")),
    ("POST", "/workflow-definitions", P("write:workflow-definitions")),
    ("GET", "/workflow-definitions/query/count", P("read:workflow-definitions")),
    ("GET", "/workflow-definitions/validation/is-name-unique", P("read:workflow-definitions")),
    ("GET", "/workflow-definitions/many-by-id", P("read:workflow-definitions")),
    ("GET", "/workflow-definitions/by-id/{id}", P("read:workflow-definitions")),
    (
        "GET",
        "/workflow-definitions/by-definition-id/{definitionId}",
        P("read:workflow-definitions"),
    ),
    ("POST", "/workflow-definitions/validation/check", P("write:workflow-definitions")),
    ("POST", "/workflow-definitions/short-form/shorten", P("read:workflow-definitions")),
    ("POST", "/workflow-definitions/short-form/expand", P("read:workflow-definitions")),
    ("GET", "/workflow-definitions/short-form/schema", P("read:activity-descriptors")),
    ("GET", "/workflow-definitions/{definitionId}/figures", P("read:workflow-definitions")),
    ("POST", "/workflow-definitions/import", P("write:workflow-definitions")),
    ("PUT", "/workflow-definitions/import", P("write:workflow-definitions")),
    ("GET", "/workflow-definitions/{definitionId}", P("read:workflow-definitions")),
    ("PUT", "/workflow-definitions/{definitionId}", P("write:workflow-definitions")),
    ("DELETE", "/workflow-definitions/{definitionId}", P("delete:workflow-definitions")),
    ("POST", "/workflow-definitions/{definitionId}/import", P("write:workflow-definitions")),
    ("PUT", "/workflow-definitions/{definitionId}/import", P("write:workflow-definitions")),
    ("GET", "/workflow-definitions/{definitionId}/versions", P("read:workflow-definitions")),
    ("GET", "/workflow-definitions/{definitionId}/export", P("read:workflow-definitions")),
    ("GET", "/workflow-definitions/subgraph/{id}", P("read:workflow-definitions")),
    ("GET", "/workflow-definitions/subgraph/segments/{id}", P("read:workflow-definitions")),
    (
        "DELETE",
        "/workflow-definitions/{definitionId}/version/{version}",
        P("delete:workflow-definitions"),
    ),
    ("DELETE", "/workflow-definition-versions/{id}", P("delete:workflow-definitions")),
    ("POST", "/workflow-definitions/{definitionId}/publish", P("publish:workflow-definitions")),
    ("POST", "/workflow-definitions/{definitionId}/retract", P("retract:workflow-definitions")),
    (
        "POST",
        "/workflow-definitions/{definitionId}/revert/{version}",
        P("publish:workflow-definitions"),
    ),
    ("GET", "/workflow-definitions/{definitionId}/consumers", P("read:workflow-definitions")),
    (
        "POST",
        "/workflow-definitions/{definitionId}/update-references",
        P("publish:workflow-definitions"),
    ),
    ("GET", "/workflow-definitions/{definitionId}/execute", P("exec:workflow-definitions")),
    ("POST", "/workflow-definitions/{definitionId}/execute", P("exec:workflow-definitions")),
    ("POST", "/workflow-definitions/{definitionId}/dispatch", P("exec:workflow-definitions")),
    ("POST", "/workflow-definitions/{definitionId}/bulk-dispatch", P("exec:workflow-definitions")),
    (
        "POST",
        "/bulk-actions/publish/workflow-definitions/by-definition-ids",
        P("publish:workflow-definitions"),
    ),
    (
        "POST",
        "/bulk-actions/retract/workflow-definitions/by-definition-ids",
        P("retract:workflow-definitions"),
    ),
    (
        "POST",
        "/bulk-actions/delete/workflow-definitions/by-definition-id",
        P("delete:workflow-definitions"),
    ),
    ("GET", "/bulk-actions/export/workflow-definitions", P("read:workflow-definitions")),
    ("POST", "/bulk-actions/export/workflow-definitions", P("read:workflow-definitions")),
    ("POST", "/workflow-definitions/{definitionId}/export", P("read:workflow-definitions")),
    ("POST", "/workflow-definitions/import-files", P("write:workflow-definitions")),
    ("POST", "/bulk-actions/import/workflow-definitions", P("write:workflow-definitions")),
    ("POST", "/actions/workflow-definitions/refresh", P("actions:workflow-definitions:refresh")),
    ("POST", "/actions/workflow-definitions/reload", P("actions:workflow-definitions:reload")),
    ("GET", "/workflow-instances", P("read:workflow-instances")),
    // Starts (exec:workflow-definitions) or lists (read:workflow-instances), depending on its body.
    ("POST", "/workflow-instances", Key(&["exec:workflow-definitions", "read:workflow-instances"])),
    ("POST", "/workflow-instances/start", P("exec:workflow-definitions")),
    ("POST", "/workflow-instances/query", P("read:workflow-instances")),
    ("GET", "/workflow-instances/counts", P("read:workflow-instances")),
    ("POST", "/workflow-instances/counts", P("read:workflow-instances")),
    ("GET", "/workflow-instances/counts/by-definition", P("read:workflow-instances")),
    ("GET", "/workflow-instances/last-hour", P("read:workflow-instances")),
    ("GET", "/workflow-instances/{id}", P("read:workflow-instances")),
    ("DELETE", "/workflow-instances/{id}", P("delete:workflow-instances")),
    ("GET", "/workflow-instances/{id}/execution-state", P("read:workflow-instances")),
    ("GET", "/workflow-instances/{id}/why", P("read:workflow-instances")),
    ("GET", "/workflow-instances/{id}/journal", P("read:workflow-instances")),
    ("POST", "/workflow-instances/{id}/journal", P("read:workflow-instances")),
    ("GET", "/workflow-instances/{id}/journal/{activityId}", P("read:workflow-instances")),
    ("GET", "/workflow-instances/{id}/state", P("read:workflow-instances")),
    ("GET", "/activity-executions/list", P("read:activity-execution")),
    ("GET", "/activity-execution-summaries/list", P("read:activity-execution")),
    ("GET", "/activity-executions/count", P("read:activity-execution")),
    ("GET", "/activity-executions/by-id", P("read:activity-execution")),
    ("GET", "/activity-executions/{id}", P("read:activity-execution")),
    ("GET", "/activity-executions/{id}/call-stack", P("read:activity-execution")),
    ("POST", "/activity-executions/report", P("read:activity-execution")),
    ("GET", "/workflow-instances/{id}/variables", P("read:workflow-instances")),
    ("POST", "/workflow-instances/{id}/variables", P("write:workflow-instances")),
    ("GET", "/workflow-instances/{id}/export", P("read:workflow-instances")),
    ("POST", "/workflow-instances/{id}/export", P("read:workflow-instances")),
    ("GET", "/bulk-actions/export/workflow-instances", P("read:workflow-instances")),
    ("POST", "/bulk-actions/export/workflow-instances", P("read:workflow-instances")),
    ("POST", "/workflow-instances/{id}/alter", P("run:alterations")),
    ("POST", "/workflow-instances/{id}/restart", P("run:alterations")),
    ("POST", "/bulk-actions/import/workflow-instances", P("write:workflow-instances")),
    ("POST", "/alterations/run", P("run:alterations")),
    ("GET", "/alterations/workflows/retry", P("run:alterations")),
    ("POST", "/alterations/workflows/retry", P("run:alterations")),
    ("POST", "/alterations/dry-run", P("run:alterations")),
    ("POST", "/alterations/submit", P("run:alterations")),
    ("GET", "/alterations/{id}", P("read:alterations")),
    ("POST", "/alterations/{id}/stop", P("run:alterations")),
    ("GET", "/workflow-instances/{id}/bookmarks", P("read:workflow-instances")),
    ("POST", "/workflow-instances/{id}/bookmarks/{bookmarkId}/url", P("write:workflow-instances")),
    ("POST", "/workflow-instances/{id}/resume", P("write:workflow-instances")),
    ("POST", "/cancel/workflow-instances/{id}", P("cancel:workflow-instances")),
    ("POST", "/bulk-actions/cancel/workflow-instances", P("cancel:workflow-instances")),
    ("POST", "/bulk-actions/delete/workflow-instances", P("delete:workflow-instances")),
    // The path of Elsa's clients.
    ("POST", "/bulk-actions/delete/workflow-instances/by-id", P("delete:workflow-instances")),
    ("POST", "/bulk-actions/delete/workflow-instances/by-filter", P("delete:workflow-instances")),
    ("POST", "/bulk-actions/delete/workflow-definitions/by-id", P("delete:workflow-definitions")),
    ("GET", "/bookmarks/resume", Public),
    ("POST", "/bookmarks/resume", Public),
    ("GET", "/events/trigger", Public),
    ("POST", "/events/{eventName}/trigger", P("trigger:event")),
    ("GET", "/admin/workflow-runtime/status", OneOf(&["read:workflow-runtime", MANAGE_RUNTIME])),
    ("POST", "/admin/workflow-runtime/pause", P(MANAGE_RUNTIME)),
    ("POST", "/admin/workflow-runtime/resume", P(MANAGE_RUNTIME)),
    ("POST", "/admin/workflow-runtime/force-drain", P(MANAGE_RUNTIME)),
    ("GET", "/bookmark-queue/dead-letters", P("read:bookmark-queue:dead-letters")),
    ("POST", "/bookmark-queue/dead-letters", P("read:bookmark-queue:dead-letters")),
    ("GET", "/bookmark-queue/dead-letters/{id}", P("read:bookmark-queue:dead-letters")),
    // Bodies may contain secrets.
    ("GET", "/bookmark-queue/dead-letters/{id}/body", P("replay:bookmark-queue:dead-letters")),
    ("DELETE", "/bookmark-queue/dead-letters/{id}", P("delete:bookmark-queue:dead-letters")),
    ("POST", "/bookmark-queue/dead-letters/{id}/replay", P("replay:bookmark-queue:dead-letters")),
    ("GET", "/incidents/groups", P("read:workflow-instances")),
    ("GET", "/schedules", P("read:schedules")),
    ("GET", "/schedules/{scheduleId}", P("read:schedules")),
    ("POST", "/schedules/{scheduleId}/pause", P("write:schedules")),
    ("POST", "/schedules/{scheduleId}/resume", P("write:schedules")),
    ("POST", "/schedules/{scheduleId}/trigger", P("exec:workflow-definitions")),
    ("GET", "/events", P("read:workflow-instances")),
    ("GET", "/workflow-instances/{id}/events", P("read:workflow-instances")),
    ("POST", "/payloads", P("write:payloads")),
    ("GET", "/payloads/{hash}", P("read:payloads")),
    ("GET", "/tasks", P("read:workflow-instances")),
    ("GET", "/tasks/pools", P("read:activity-descriptors")),
    ("GET", "/tasks/workers", P("read:activity-descriptors")),
    ("POST", "/tasks/poll", P("tasks:poll")),
    ("POST", "/tasks/{taskId}/heartbeat", P("tasks:poll")),
    ("POST", "/tasks/{taskId}/complete", P("tasks:complete")),
    ("POST", "/tasks/{taskId}/fail", P("tasks:complete")),
    ("POST", "/tests/activities", P("exec:tests")),
    ("POST", "/tests/workflows", P("exec:tests")),
    ("POST", "/tests/cases", P("exec:tests")),
    ("POST", "/tests/cases/check", P("exec:tests")),
    ("POST", "/tests/cases/make", P("exec:tests")),
    ("GET", "/resilience/strategies", OneOf(&["read:resilience", "read:resilience:strategies"])),
    (
        "GET",
        "/resilience/retries/{activityInstanceId}",
        OneOf(&["read:resilience", "read:resilience:retries"]),
    ),
    ("GET", "/activity-types", P("read:activity-descriptors")),
    ("POST", "/activity-types", P("write:activity-types")),
    ("DELETE", "/activity-types/{typeName}/{version}", P("delete:activity-types")),
    ("GET", "/descriptors/activities", P("read:activity-descriptors")),
    ("GET", "/descriptors/activities/{typeName}", P("read:activity-descriptors")),
    ("GET", "/descriptors/variables", P("read:variable-descriptors")),
    ("GET", "/descriptors/storage-drivers", P("read:storage-drivers")),
    ("GET", "/descriptors/output-converters", P("read:output-converters")),
    ("GET", "/descriptors/incident-strategies", P("read:incident-strategies")),
    (
        "GET",
        "/descriptors/workflow-activation-strategies",
        P("read:workflow-activation-strategies"),
    ),
    (
        "POST",
        "/scripting/javascript/type-definitions/{definitionId}",
        P("read:javascript-type-definitions"),
    ),
    ("GET", "/descriptors/expression-descriptors", P("read:expression-descriptors")),
    (
        "POST",
        "/descriptors/activities/{activityTypeName}/options/{propertyName}",
        P("read:activity-descriptors-options"),
    ),
    ("GET", "/descriptors/log-persistence-strategies", P("read:log-persistence-strategies")),
    ("GET", "/descriptors/commit-strategies/workflows", P("read:commit-strategies")),
    ("GET", "/descriptors/commit-strategies/activities", P("read:commit-strategies")),
    ("GET", "/features/installed", P("read:installed-features")),
    ("GET", "/features/installed/{fullName}", P("read:installed-features")),
    ("GET", "/package/version", Public),
    ("POST", "/identity/login", Public),
    // The refresh token is the credential.
    ("POST", "/identity/refresh-token", Public),
    ("POST", "/identity/logout", Public),
    // The password until now is its credential.
    ("POST", "/identity/password", Public),
    ("GET", "/identity/me", Key(&[])),
    ("GET", "/identity/users", P("read:user")),
    ("POST", "/identity/users", P("create:user")),
    ("PUT", "/identity/users/{id}", P("update:user")),
    ("DELETE", "/identity/users/{id}", P("delete:user")),
    ("GET", "/identity/roles", P("read:role")),
    ("POST", "/identity/roles", P("create:role")),
    ("PUT", "/identity/roles/{id}", P("update:role")),
    ("DELETE", "/identity/roles/{id}", P("delete:role")),
    ("GET", "/identity/applications", P("read:application")),
    ("POST", "/identity/applications", P("create:application")),
    ("DELETE", "/identity/applications/{id}", P("delete:application")),
    ("GET", "/secrets", P("read:secrets")),
    ("POST", "/secrets", P("write:secrets")),
    ("POST", "/secrets/picker", P("read:secrets")),
    ("GET", "/secrets/descriptors", P("read:secrets")),
    ("GET", "/secrets/{name}", P("read:secrets")),
    ("POST", "/secrets/{name}", P("write:secrets")),
    ("PUT", "/secrets/{name}", P("write:secrets")),
    ("DELETE", "/secrets/{name}", P("delete:secrets")),
    ("POST", "/secrets/{name}/rotate", P("write:secrets")),
    ("POST", "/secrets/{name}/revoke", P("write:secrets")),
    ("POST", "/secrets/{name}/test", P("test:secrets")),
    ("GET", "/labels", P("read:labels")),
    ("POST", "/labels", P("create:labels")),
    ("GET", "/labels/{id}", P("read:labels")),
    ("POST", "/labels/{id}", P("update:labels")),
    ("DELETE", "/labels/{id}", P("delete:labels")),
    ("GET", "/workflow-definitions/{id}/labels", P(READ_VERSION_LABELS)),
    ("POST", "/workflow-definitions/{id}/labels", P("update:workflow-definition-labels")),
    ("GET", "/api-keys", P("read:api-keys")),
    ("POST", "/api-keys", P("write:api-keys")),
    ("DELETE", "/api-keys/{id}", P("delete:api-keys")),
    ("GET", "/audit", P("read:audit")),
    ("GET", "/nodes", P("read:nodes")),
    ("GET", "/cluster/leases", P("read:nodes")),
    ("GET", "/cluster/counts", P("read:nodes")),
    ("GET", "/cluster/listeners", P("read:nodes")),
    ("GET", "/cluster/streams", P("read:nodes")),
    ("GET", "/cluster/database", P("read:nodes")),
    ("GET", "/cluster/statements", P("read:nodes")),
    ("POST", "/cluster/validation", P("exec:cluster-validation")),
    ("GET", "/demo", OneOf(&["read:workflow-runtime", MANAGE_RUNTIME])),
    ("POST", "/demo/executors/kill", P(MANAGE_RUNTIME)),
];

/// The routes outside of the API.
const ROOT: &[(&str, &str, Need)] = &[
    ("GET", "/bookmarks/resume", Public),
    ("POST", "/bookmarks/resume", Public),
    ("GET", "/events/trigger", Public),
    ("GET", "/", Public),
    ("GET", "/health/live", Public),
    ("GET", "/health/ready", Public),
    ("GET", "/metrics", Inside),
    ("GET", "/openapi.json", Public),
    ("GET", "/asyncapi.json", Public),
    // The hub checks the permission for each instance; a negotiation needs a credential, and no more.
    ("GET", "/elsa/hubs/workflow-instance", HUB),
    ("POST", "/elsa/hubs/workflow-instance/negotiate", NEGOTIATION),
];

/// The beginnings at which clients look for the hub: they put `hubs/workflow-instance` in the place
/// of the last segment of the address of the API, which may end with a slash.
const HUB_MOUNTS: [&str; 4] = ["/elsa/api", "/elsa", "/api", ""];

/// Paths that are public, with all paths below them and for every method: workflows check their
/// callers themselves, and the pages of the API browser contain no secret.
const OPEN: &[&str] = &[WORKFLOWS, "/docs", "/studio"];

/// Every permission that a route requires.
#[must_use]
pub fn permissions() -> BTreeSet<&'static str> {
    let mut names = BTreeSet::new();
    for (_, _, need) in API.iter().chain(ROOT) {
        match need {
            P(name) => drop(names.insert(*name)),
            OneOf(some) | Key(some) => names.extend(*some),
            Public | Inside | Unlisted => {}
        }
    }
    names
}

/// Refuses a permission that no route requires, and that is none of these `policies` of workflow
/// endpoints. All permissions of one verb (`read:*`) and all (`*`) are right.
///
/// # Errors
/// The permissions that there are.
pub fn check_permission(text: &str, policies: &BTreeSet<&str>) -> Result<(), String> {
    let known: BTreeSet<&str> = permissions();
    let verbs = known.union(policies).filter_map(|name| name.split_once(':'));
    let is_verb = |verb: &str| verbs.clone().any(|(one, _)| one == verb);
    let is_known = known.contains(text) || policies.contains(text);
    if text == "*" || is_known || text.strip_suffix(":*").is_some_and(is_verb) {
        return Ok(());
    }
    let known = known.iter().copied().collect::<Vec<_>>().join(", ");
    Err(format!("there is no such permission; use * for all, read:* for all of a verb, or {known}"))
}

/// The credentials that the route with this template requires.
pub(crate) fn of(method: &Method, template: &str) -> Need {
    if let Some(need) = find(ROOT, method, template) {
        return need;
    }
    if is_hub(template) {
        return find(ROOT, method, &format!("/elsa{}", from_hubs(template))).unwrap_or(Unlisted);
    }
    let below = |prefix: &str| {
        template.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    if OPEN.iter().any(|prefix| below(prefix)) {
        return Public;
    }
    let in_api = MOUNTS.iter().find_map(|mount| template.strip_prefix(mount));
    in_api.and_then(|template| find(API, method, template)).unwrap_or(Unlisted)
}

/// Whether the route with this template belongs to the hub: there alone, a token may be in the query.
pub(crate) fn is_hub(template: &str) -> bool {
    let path = from_hubs(template);
    let mount = template.strip_suffix(path);
    let is_known = matches!(path, "/hubs/workflow-instance" | "/hubs/workflow-instance/negotiate");
    is_known && mount.is_some_and(|mount| HUB_MOUNTS.contains(&mount))
}

/// Whether the answer of the route with this template goes on while the caller stays: its
/// credentials are checked again.
pub(crate) fn is_live(template: &str) -> bool {
    let is_stream = matches!(
        unmounted(template),
        "/events" | "/workflow-instances/{id}/events" | "/cluster/validation"
    );
    is_stream || is_hub(template)
}

/// The path of a route of a hub, without its beginning.
fn from_hubs(template: &str) -> &str {
    template.find("/hubs/").and_then(|at| template.get(at..)).unwrap_or_default()
}

/// Whether a path, or the template of one, is that of a workflow endpoint.
pub(crate) fn is_workflow(path: &str) -> bool {
    path.strip_prefix(WORKFLOWS).is_some_and(|rest| matches!(rest.get(..1), None | Some("/")))
}

/// Whether the route with this template is a page of this server's own interface: a file that is the
/// same for everybody, and changes nothing.
pub(crate) fn is_page(template: &str) -> bool {
    matches!(
        template,
        "/" | "/studio"
            | "/studio/"
            | "/studio/{*path}"
            | "/docs"
            | "/docs/"
            | "/docs/{*rest}"
            | "/docs/book"
            | "/docs/book/"
            | "/docs/book/{*page}"
    )
}

/// Whether the route with this template is a link whose token is its authorization.
pub(crate) fn is_token_link(template: &str) -> bool {
    matches!(unmounted(template), "/bookmarks/resume" | "/events/trigger")
}

/// Whether the answer of the route with this template contains a secret: such an answer is never
/// kept.
pub(crate) fn answers_secret(template: &str) -> bool {
    matches!(
        unmounted(template),
        "/api-keys"
            | "/tasks/poll"
            | "/tasks/{taskId}/heartbeat"
            | "/workflow-instances/{id}/bookmarks/{bookmarkId}/url"
    )
}

/// Whether requests to the route with this template contain secrets: nothing of them is kept, not
/// even a hash.
pub(crate) fn takes_secret(template: &str) -> bool {
    let template = unmounted(template);
    template.starts_with("/identity/") || template.starts_with("/secrets")
}

/// The methods of the route with this template, for a refusal that names them.
pub(crate) fn methods(template: &str) -> Vec<String> {
    let below = MOUNTS.iter().find_map(|mount| template.strip_prefix(mount));
    let api = API.iter().filter(|row| below == Some(row.1));
    let root = ROOT.iter().filter(|row| row.1 == template);
    api.chain(root).map(|row| row.0.to_owned()).collect()
}

/// The path below the mount, so that a route has one meaning under both mounts.
pub(crate) fn unmounted(path: &str) -> &str {
    let rest = MOUNTS.iter().find_map(|mount| path.strip_prefix(mount));
    rest.filter(|rest| rest.starts_with('/')).unwrap_or(path)
}

fn find(table: &[(&str, &str, Need)], method: &Method, template: &str) -> Option<Need> {
    let is = |row: &&(&str, &str, Need)| row.0 == method.as_str() && row.1 == template;
    table.iter().find(is).map(|row| row.2)
}

/// Every method and path, under the first mount.
#[cfg(test)]
pub(crate) fn listed() -> BTreeSet<(String, String)> {
    let api = API.iter().map(|row| (row.0.to_owned(), format!("{}{}", MOUNTS[0], row.1)));
    let root = ROOT.iter().map(|row| (row.0.to_owned(), row.1.to_owned()));
    api.chain(root).collect()
}

#[cfg(test)]
mod tests;
