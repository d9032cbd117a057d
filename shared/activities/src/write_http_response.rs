//! WriteHttpResponse: answers the HTTP client that waits.

use std::collections::BTreeMap;

use engine::{Activity, Decision, Descriptor, Failure, Next, Response, Step, Type};
use model::{Map, file};
use serde_json::Value;

use crate::called::{content, encoded};

/// `Elsa.WriteHttpResponse`
pub(crate) struct WriteHttpResponse;

impl Activity for WriteHttpResponse {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("Elsa.WriteHttpResponse", "HTTP", "Answers the HTTP client that waits.")
            .called("HTTP Response")
            .input("statusCode", Type::StatusCode, "A code, or a name such as OK.")
            .default(200)
            .input(
                "content",
                Type::Object,
                "Text is sent as it is, a file as its bytes, anything else as JSON.",
            )
            .input("contentType", Type::String, "The Content-Type.")
            .input("responseHeaders", Type::Dictionary, "Header names and values.")
            .outcomes(&["Done"])
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let status = step.integer("statusCode")?.unwrap_or(200);
        let mut response = Response {
            status_code: u16::try_from(status).unwrap_or(200),
            headers: headers(step.object("responseHeaders")?),
            content_type: step.text("contentType")?,
            content: step.value("content")?,
            is_base64: false,
        };
        if file::members(&response.content).is_some() {
            let file = content("content", &response.content)?;
            response.content_type = response.content_type.or(file.content_type);
            response.content = encoded(&file.bytes).into();
            response.is_base64 = true;
        }
        if step.respond(response) { Ok(Next::done()) } else { Err(nobody_waits()) }
    }
}

/// The failure of an answer that nobody waits for.
pub(crate) fn nobody_waits() -> Failure {
    let message = "no HTTP client waits for an answer: answer in the burst that the request \
                   starts or resumes, and only once";
    Failure::new("NoHttpContext", message).in_category("HTTP")
}

/// Header values as text; the first where there are several.
pub(crate) fn headers(map: Map) -> BTreeMap<String, String> {
    let text = |value: Value| match value {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    };
    let one = |value: Value| match value {
        Value::Array(mut items) if !items.is_empty() => text(items.remove(0)),
        other => text(other),
    };
    map.into_iter().map(|(name, value)| (name, one(value))).collect()
}

#[cfg(test)]
mod tests {
    use engine::Effect;
    use serde_json::json;

    use super::*;
    use crate::tests::player;

    fn document(answer: Value) -> Value {
        json!({"type": "Sequence", "activities": [
            {"type": "HttpEndpoint", "id": "h", "canStartWorkflow": true, "path": "x"}, answer
        ]})
    }

    #[test]
    fn the_waiting_client_is_answered() {
        let mut player = player(document(json!({"type": "WriteHttpResponse",
            "statusCode": "Created", "content": {"id": 7}, "contentType": "application/json",
            "responseHeaders": {"X-A": ["1", "2"], "X-B": 3}})));
        player.start_at(Some("h"), json!({}));
        let headers = [("X-A", "1"), ("X-B", "3")];
        let expected = Response {
            status_code: 201,
            headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            content_type: Some("application/json".to_owned()),
            content: json!({"id": 7}),
            is_base64: false,
        };
        assert_eq!(player.effects, [Effect::Respond(expected)]);
    }

    #[test]
    fn a_file_is_answered_as_its_bytes() {
        let file = json!({"fileName": "a", "contentType": "image/png", "content": " AP8="});
        let file = json!({"expression": {"type": "Object", "value": file}});
        let mut player = player(document(json!({"type": "WriteHttpResponse", "content": file})));
        player.start_at(Some("h"), json!({}));
        let Effect::Respond(response) = player.effects[0].clone() else { panic!("no answer") };
        assert_eq!((response.content, response.is_base64), (json!("AP8="), true));
        assert_eq!(response.content_type.as_deref(), Some("image/png"));
    }

    #[test]
    fn without_a_client_it_is_an_incident() {
        let mut player = player(json!({"type": "WriteHttpResponse", "content": "hello"}));
        player.start(json!({}));
        assert_eq!(player.state().incidents[0].code, "NoHttpContext");
    }

    #[test]
    fn a_second_answer_is_an_incident() {
        let answer = json!({"type": "WriteHttpResponse", "content": "hello"});
        let twice = json!({"type": "Sequence", "activities": [answer, answer]});
        let mut player = player(document(twice));
        player.start_at(Some("h"), json!({}));
        assert_eq!(player.effects.len(), 1);
        assert_eq!(player.state().incidents[0].code, "NoHttpContext");
    }
}
