//! The scenarios of activities that take, answer and make HTTP requests.

use serde_json::{Value, json};

use crate::activity::line;
use crate::nats::leaving;
use crate::play::{Row, Table, row};

pub(crate) fn tables() -> Vec<Table> {
    vec![endpoint(), answer(), download(), send(), flow_send(), get_file()]
}

/// A value that is no expression.
fn object(value: Value) -> Value {
    json!({"expression": {"type": "Object", "value": value}})
}

/// A file of two bytes.
fn file() -> Value {
    json!({"fileName": "a.txt", "contentType": "text/plain", "size": 2, "content": "aGk="})
}

/// A request with these members, as it arrives.
fn request(members: &Value) -> Value {
    let mut request = json!({"method": "POST", "path": "/workflows/orders/7"});
    for (name, value) in members.as_object().into_iter().flatten() {
        request[name] = value.clone();
    }
    json!({ "__HttpRequest": request })
}

/// The members of an object, and more.
fn with(mut value: Value, more: &Value) -> Value {
    for (name, member) in more.as_object().into_iter().flatten() {
        value[name] = member.clone();
    }
    value
}

fn endpoint() -> Table {
    let plain = || json!({"path": "orders/{id}", "supportedMethods": ["POST"]});
    let refused = |outcome: &str, message: &str| {
        request(&json!({"refusal": {"outcome": outcome, "message": message}}))
    };
    let exposing = |input: &str, outcome: &str| {
        let mut node = with(plain(), &json!({"type": "HttpEndpoint"}));
        node[input] = json!(true);
        leaving(node, outcome)
    };
    let large = "the body has more than the 5 bytes that it may have";
    Table::new(
        "Elsa.HttpEndpoint",
        vec![
            row("It waits for a request.", plain()),
            row(
                "Its settings are for those who take requests.",
                with(
                    plain(),
                    &json!({"authorize": true, "policy": "orders:write", "requestTimeout":
                        "00:00:30", "requestSizeLimit": 1000, "fileSizeLimit": 500,
                        "allowedFileExtensions": [".pdf"], "blockedFileExtensions": [".exe"],
                        "allowedMimeTypes": ["application/pdf"]}),
                ),
            ),
            row("The request is the result.", plain()).then(request(&json!({"body": {"n": 1},
                "routeData": {"id": "7"}, "query": {"a": "1"}, "headers": {"X-A": "1"}}))),
            row("A form is the content.", plain()).then(request(&json!({"body": null,
                "form": {"title": "Plan"}, "files": [file()]}))),
            row("A body that is no text is a file.", plain()).then(request(&json!({"body":
                {"fileName": "file", "contentType": "image/png", "size": 2, "content": "AP8="}}))),
            row("GET, if there is no method.", json!({"path": "orders"})),
            row(
                "The body is too large.",
                exposing("exposeRequestTooLargeOutcome", "Request too large"),
            )
            .then(refused("Request too large", large)),
            row("A file is too large.", exposing("exposeFileTooLargeOutcome", "File too large"))
                .then(refused("File too large", "the file \"a.pdf\" has 501 bytes")),
            row(
                "A file has an extension that is not allowed.",
                exposing("exposeInvalidFileExtensionOutcome", "Invalid file extension"),
            )
            .then(refused("Invalid file extension", "files ending with .exe are not taken")),
            row(
                "A file has a media type that is not allowed.",
                exposing("exposeInvalidFileMimeTypeOutcome", "Invalid file MIME type"),
            )
            .then(refused("Invalid file MIME type", "files of type text/html are not taken")),
            row("No methods.", json!({"path": "orders", "supportedMethods": object(json!([]))})),
            row("A size below nothing.", with(plain(), &json!({"requestSizeLimit": -1}))),
            row("A path that is none.", json!({"path": "orders/{id"})),
            row("No path.", json!({})),
        ],
    )
}

/// The activity after an endpoint, and the request that it answers.
fn after_request(shows: &'static str, kind: &str, given: &Value) -> Row {
    let node = with(json!({"type": kind, "id": "subject"}), given);
    let endpoint = json!({"type": "HttpEndpoint", "path": "orders"});
    row(shows, json!({"root": {"type": "Sequence", "activities": [endpoint, node]}}))
        .then(request(&json!({})))
}

fn answer() -> Table {
    let after = |shows, given: Value| after_request(shows, "WriteHttpResponse", &given);
    Table::new(
        "Elsa.WriteHttpResponse",
        vec![
            after("The answer is 200.", json!({})),
            after(
                "Text is sent as it is.",
                json!({"statusCode": 404, "content": "gone", "contentType": "text/plain"}),
            ),
            after("A status has a name.", json!({"statusCode": "NoContent"})),
            after("Anything else is JSON.", json!({"content": {"js": "({n: 7})"}})),
            after("A file is sent as its bytes.", json!({"content": object(file())})),
            after(
                "Headers; of several values, each is sent.",
                json!({"responseHeaders": object(json!({"X-A": "1", "X-B": [2, 3]}))}),
            ),
            after("A status that there is not.", json!({"statusCode": {"js": "99"}})),
            after(
                "A file that is not base64.",
                json!({"content": object(json!({"fileName": "a", "content": "?"}))}),
            ),
            row("Nobody waits for an answer.", json!({"content": "x"})),
            row("A status that there is not, as it is written.", json!({"statusCode": 600})),
        ],
    )
}

fn download() -> Table {
    let after = |shows, given: Value| after_request(shows, "WriteFileHttpResponse", &given);
    Table::new(
        "Elsa.WriteFileHttpResponse",
        vec![
            after("A text is a file.", json!({"content": "a,b", "filename": "orders.csv"})),
            after("A file has its own name and type.", json!({"content": object(file())})),
            after(
                "They can be given.",
                json!({"content": object(file()), "filename": "b.txt", "contentType": "x/y"}),
            ),
            after(
                "A download that can be resumed has a tag.",
                json!({"content": "hi", "enableResumableDownloads": true, "entityTag": "7"}),
            ),
            after(
                "Its hash, if none is given.",
                json!({"content": "hi", "enableResumableDownloads": true}),
            ),
            after("Several are an archive.", json!({"content": object(json!([file(), "two"]))})),
            after("Base64 is text like any other.", json!({"content": "aGk="})),
            after("Bytes of a script.", json!({"content": {"js": "bytesFromBase64('aGk=')"}})),
            after("Nothing is 204.", json!({})),
            after("The URL of a file.", json!({"content": {"js": "'https://a.test/b.pdf'"}})),
            after(
                "A file that is not base64.",
                json!({"content": object(json!({"fileName": "a", "content": "?"}))}),
            ),
            row("Nobody waits for an answer.", json!({"content": "x"})),
            row("The URL of a file, as it is written.", json!({"content": "https://a.test/b"})),
        ],
    )
    .idle(&["downloadCorrelationId"])
}

/// The inputs that every call has, and those of its content.
fn whole(content: &str, content_type: &str) -> Value {
    json!({"url": "https://shop.test/orders", "method": "post", content: "n=1",
        content_type: "text/plain", "authorization": "Bearer t", "requestTimeout": "00:00:05",
        "disableAuthorizationHeaderValidation": true,
        "requestHeaders": object(json!({"X-A": "1"}))})
}

fn answered(status: u16, content: Value) -> Value {
    json!({"statusCode": status, "headers": {"content-type": "application/json"},
        "content": content})
}

fn late() -> Value {
    json!({"error": "timeout", "message": "there was no answer in time"})
}

fn unreachable() -> Value {
    json!({"error": "connect", "message": "connection refused"})
}

/// The failures of a call before it is made.
fn mistakes() -> Vec<Row> {
    vec![
        row("What is no URL, as it is written.", json!({"url": "shop.test"})),
        row("What is no URL.", json!({"url": {"js": "'shop.test'"}})),
        row("What is no method.", json!({"url": "https://shop.test", "method": {"js": "'A B'"}})),
        row("No URL.", json!({"method": "GET"})),
    ]
}

fn send() -> Table {
    let plain = || json!({"url": "https://shop.test/orders"});
    let cases = || {
        with(
            plain(),
            &json!({"expectedStatusCodes": [{"statusCode": 200, "activity": line("ok")},
                {"statusCode": 404, "activity": line("gone")}],
                "unmatchedStatusCode": line("unmatched"), "failedToConnect": line("unreachable"),
                "timeout": line("late")}),
        )
    };
    let mut rows = vec![
        row("The call is made.", whole("content", "contentType")),
        row("Its answer is the result.", plain()).then(answered(200, json!({"n": 7}))),
        row("The activity for its status runs.", cases()).then(answered(404, Value::Null)),
        row("None is for its status.", cases()).then(answered(500, Value::Null)),
        row("No answer in time, and there is a way.", cases()).then(late()),
        row("No answer in time.", plain()).then(late()),
        row("It cannot be made, and there is a way.", cases()).then(unreachable()),
        row("It cannot be made.", plain()).then(unreachable()),
        row("It is not allowed.", plain())
            .then(json!({"error": "refused", "message": "10.0.0.1 is a private address"})),
        row("XML is a value, if one is wanted.", plain()).then(json!({"statusCode": 200,
            "headers": {"content-type": "text/xml"}, "content": "<a><b>1</b></a>"})),
        row("XML that cannot be read.", plain()).then(json!({"statusCode": 200,
            "headers": {"content-type": "text/xml"}, "content": "<a>"})),
    ];
    rows.extend(mistakes());
    Table::new("Elsa.SendHttpRequest", rows)
}

/// The scenarios of a call that leaves through the outcome for its end.
fn outcomes(kind: &'static str, content: Value) -> Vec<Row> {
    let plain = || json!({"url": "https://shop.test/orders"});
    let expecting = |codes: Value| with(plain(), &json!({ "expectedStatusCodes": codes }));
    let way = |outcome| leaving(with(plain(), &json!({ "type": kind })), outcome);
    vec![
        row("Its answer is the result.", plain()).then(answered(200, content)),
        row("Its status is expected.", expecting(json!([200, "404"])))
            .then(answered(404, Value::Null)),
        row("Its status is not expected.", plain()).then(answered(500, Value::Null)),
        row("None is expected.", expecting(object(json!([])))).then(answered(500, Value::Null)),
        row("No answer in time, and there is a way.", way("Timeout")).then(late()),
        row("No answer in time.", plain()).then(late()),
        row("It cannot be made, and there is a way.", way("Failed to connect")).then(unreachable()),
        row("It cannot be made.", plain()).then(unreachable()),
    ]
}

fn flow_send() -> Table {
    let mut rows = vec![row("The call is made.", whole("content", "contentType"))];
    rows.extend(outcomes("FlowSendHttpRequest", json!({"n": 7})));
    rows.extend(mistakes());
    Table::new("Elsa.FlowSendHttpRequest", rows)
}

fn get_file() -> Table {
    let mut rows = vec![row("The call is made.", whole("requestContent", "requestContentType"))];
    rows.extend(outcomes("DownloadHttpFile", file()));
    rows.extend(mistakes());
    Table::new("Elsa.DownloadHttpFile", rows)
}
