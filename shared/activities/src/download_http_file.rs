//! DownloadHttpFile: makes an HTTP call, and gives its answer as a file.

use engine::{Activity, Decision, Descriptor, Kind, Next, Plan, Planning, Resumed, Step, Type};
use serde_json::json;

use crate::flow_send_http_request::{leaves_by_codes, left};
use crate::send_http_request::{Answer, check_url, ended, send};

/// `Elsa.DownloadHttpFile`
pub(crate) struct DownloadHttpFile;

impl Activity for DownloadHttpFile {
    fn descriptor(&self) -> Descriptor {
        let what = "Makes an HTTP call and gives its answer as a file.";
        let codes = Type::List(Box::new(Type::StatusCode));
        Descriptor::new("Elsa.DownloadHttpFile", "HTTP", what)
            .called("Download File")
            .kind(Kind::Task)
            .calls()
            .input("url", Type::String, "An absolute http or https URL.")
            .required()
            .input("method", Type::String, "The method.")
            .default("GET")
            .input("expectedStatusCodes", codes, "Each of them is an outcome.")
            .default(json!([200]))
            .input("requestContent", Type::Object, "Text is sent as it is, anything else as JSON.")
            .input("requestContentType", Type::String, "The Content-Type of the content.")
            .input("authorization", Type::String, "The Authorization header.")
            .input(
                "disableAuthorizationHeaderValidation",
                Type::Boolean,
                "Not used; kept for exports.",
            )
            .default(false)
            .input("requestHeaders", Type::Dictionary, "Header names and values.")
            .input("requestTimeout", Type::TimeSpan, "The longest wait for the answer.")
            .output("response", Type::Object, "The whole answer, if it is bound.")
            .output("statusCode", Type::Integer(32), "The answer's status code.")
            .output("responseContentStream", Type::Object, "The file, if it is bound.")
            .output("responseContentBytes", Type::String, "Its bytes in base64, if it is bound.")
            .output("responseHeaders", Type::Dictionary, "The answer's headers.")
            .output("responseContentHeaders", Type::Dictionary, "Those about its content.")
            .output("result", Type::Object, "The file: its name, type, size, content in base64.")
            .outcomes(&["Unmatched status code", "Failed to connect", "Timeout", "Done"])
            .more_outcomes()
    }

    fn plan(&self, node: &mut Planning<'_>) -> Plan {
        check_url(node);
        leaves_by_codes(node);
        None
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        send(step, ["requestContent", "requestContentType"], true)?;
        Ok(Next::Wait)
    }

    fn resume(&self, step: &mut Step<'_, '_>, resumed: Resumed) -> Decision {
        let ended = ended(step, resumed.input, |step, answer| {
            let Answer { status, content, headers } = answer;
            let about = headers.as_object().into_iter().flatten();
            let about = about.filter(|(name, _)| name.starts_with("content-"));
            let about = about.map(|(name, value)| (name.clone(), value.clone())).collect();
            // The file is kept once, as the result, unless others of these are wanted.
            if step.bound_type("response").is_some() {
                let whole = json!({"statusCode": status, "headers": headers, "content": content});
                step.set_output("response", whole)?;
            }
            if step.bound_type("responseContentBytes").is_some() {
                let bytes = content.get("content").cloned().unwrap_or_default();
                step.set_output("responseContentBytes", bytes)?;
            }
            if step.bound_type("responseContentStream").is_some() {
                step.set_output("responseContentStream", content.clone())?;
            }
            step.set_output("statusCode", status)?;
            step.set_output("responseContentHeaders", serde_json::Value::Object(about))?;
            step.set_output("responseHeaders", headers)?;
            step.set_output("result", content)
        })?;
        left(step, ended)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::tests::player;

    #[test]
    fn a_file_is_kept_once_unless_more_is_wanted() {
        let download = |more: &str| {
            let mut root = json!({"type": "DownloadHttpFile", "id": "get", "url": "http://a.example/f",
                "result": "Got"});
            if !more.is_empty() {
                root[more] = json!("More");
            }
            let outputs = json!([{"name": "Got"}, {"name": "More"}]);
            let mut player = player(json!({"outputs": outputs, "root": root}));
            player.start(json!({}));
            let bytes = "QUJD".repeat(100);
            let file = json!({"fileName": "f", "content": bytes});
            assert!(
                player.resume("Call", json!({"statusCode": 200, "headers": {}, "content": file}))
            );
            assert_eq!(player.state().output["Got"], file);
            serde_json::to_string(player.state()).unwrap().matches(&bytes).count()
        };
        // The output of the activity, its last result, and that of the workflow.
        let once = download("");
        assert!(once <= 3, "{once}");
        for more in ["response", "responseContentBytes", "responseContentStream"] {
            assert!(download(more) > once, "{more}");
        }
    }
}
