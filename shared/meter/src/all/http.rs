//! The HTTP API and the endpoints of workflows.

crate::declare::meters! {
    group HTTP_METERS;
    Histogram HTTP_REQUEST_DURATION = "staunch_http_request_duration_seconds" in Seconds
        { method: "the methods of HTTP, or OTHER", route: "the templates of the API's routes, `unmatched`", status: "HTTP's codes" }
        "From a request to its answer; the wait for a workflow's answer included",
        "5xx are near 0",
        "503 with Retry-After: overload, see the alert StaunchBacklog; 500: a fault of this server, see its log";
    Counter HTTP_REQUESTS_REFUSED = "staunch_http_requests_refused_total" in Count {}
        "Requests refused because there was too much to do, or by a limit of the rate",
        "0",
        "more executors, or a higher `max-backlog`";
    Counter HTTP_ACCEPTED_UNPUBLISHED = "staunch_http_accepted_unpublished_total" in Count {}
        "Commands accepted that only the sweep could publish",
        "0",
        "NATS was away; is there a node with the role timer?";
    Counter HTTP_REQUESTS_PANICKED = "staunch_http_requests_panicked_total" in Count {}
        "Requests whose handler panicked: a fault of this server",
        "0",
        "report it with the log lines around `panicked`";
    Counter OIDC_TOKENS_REFUSED = "staunch_oidc_tokens_refused_total" in Count
        { reason: ["too_large", "malformed", "type", "algorithm", "unknown_key", "key_use", "signature", "expired", "endless", "early", "issuer", "audience", "client", "bound", "subject", "claims", "issuer_away"] }
        "Tokens of an issuer that were refused, by reason",
        "a few `expired`",
        "`signature`, `unknown_key`: somebody tries; `issuer_away`: the issuer cannot be reached";
    Counter OIDC_KEYS_FETCHED = "staunch_oidc_keys_fetched_total" in Count
        { ok: ["true", "false"] }
        "Fetches of the issuer's keys, by success",
        "`false` is 0",
        "the issuer cannot be reached: see the log";
}
