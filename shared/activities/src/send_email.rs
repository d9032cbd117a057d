//! SendEmail: sends a mail through the configured server.

use engine::{
    Activity, Attachment, Child, Decision, Descriptor, Failure, Kind, Mail, Next, PortKind,
    Resumed, Step, Type,
};
use serde_json::Value;

use crate::called::{self, content, encoded};

/// `Elsa.SendEmail`
pub(crate) struct SendEmail;

impl Activity for SendEmail {
    fn descriptor(&self) -> Descriptor {
        let what = "Sends a mail through the server of the setting `smtp-url`, at least once: a \
                    crash may repeat it, with the same Message-ID.";
        Descriptor::new("Elsa.SendEmail", "Email", what)
            .called("Send Email")
            .kind(Kind::Task)
            .calls()
            .input("from", Type::String, "The sender; that of `smtp-from` if not given.")
            .input("to", Type::texts(), "The receivers.")
            .required_unless(&["cc", "bcc"])
            .input("cc", Type::texts(), "Receivers of a copy.")
            .input("bcc", Type::texts(), "Receivers whom the others do not see.")
            .input("subject", Type::String, "The subject.")
            .input("attachments", Type::Object, "A file, or a list of files.")
            .input("body", Type::String, "The text, as HTML.")
            .output("result", Type::String, "The Message-ID.")
            .port("error", PortKind::Embedded)
            .outcomes(&["Done"])
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let attachments = match step.value("attachments")? {
            Value::Null => Vec::new(),
            Value::Array(files) => files.iter().map(attachment).collect::<Result<_, _>>()?,
            file => vec![attachment(&file)?],
        };
        let mail = Mail {
            from: step.text("from")?,
            to: addresses(step, "to")?,
            cc: addresses(step, "cc")?,
            bcc: addresses(step, "bcc")?,
            subject: step.text("subject")?.unwrap_or_default(),
            body: step.text("body")?.unwrap_or_default(),
            attachments,
        };
        if mail.to.is_empty() && mail.cc.is_empty() && mail.bcc.is_empty() {
            return Err(Failure::input("to", "there is no receiver: give one"));
        }
        step.call(mail, None)?;
        Ok(Next::Wait)
    }

    fn resume(&self, step: &mut Step<'_, '_>, mut resumed: Resumed) -> Decision {
        if let Some(failure) = called::failure(&resumed.input, "Mail") {
            let Some(handler) = step.child("error") else { return Err(failure) };
            step.schedule(Some(handler), None);
            return Ok(Next::Wait);
        }
        step.set_output("result", resumed.input.remove("messageId").unwrap_or_default())?;
        Ok(Next::done())
    }

    fn child_completed(&self, _step: &mut Step<'_, '_>, _child: Child) -> Decision {
        Ok(Next::done())
    }
}

/// The addresses of an input; one text may hold several.
fn addresses(step: &mut Step<'_, '_>, input: &str) -> Result<Vec<String>, Failure> {
    let texts = step.texts(input)?;
    let parts = texts.iter().flat_map(|text| text.split(';')).map(str::trim);
    Ok(parts.filter(|part| !part.is_empty()).map(str::to_owned).collect())
}

fn attachment(value: &Value) -> Result<Attachment, Failure> {
    if value.as_str().is_some_and(|text| text.starts_with("http")) {
        let message = "a URL is not attached: get the file with DownloadHttpFile, and attach that";
        return Err(Failure::input("attachments", message));
    }
    let file = content("attachments", value)?;
    Ok(Attachment {
        file_name: file.file_name.unwrap_or_else(|| "attachment".to_owned()),
        content_type: file.content_type.unwrap_or_else(|| "application/octet-stream".to_owned()),
        content: encoded(&file.bytes),
        payload: file.payload,
    })
}

#[cfg(test)]
mod tests {
    use engine::Operation;
    use serde_json::json;

    use super::*;
    use crate::tests::player;

    fn document() -> Value {
        let file = json!({"fileName": "a.txt", "contentType": "text/plain", "content": "aGk="});
        json!({
            "outputs": [{"name": "Got"}],
            "root": {"type": "Elsa.SendEmail", "from": "shop@example.org",
                "to": ["a@example.org; b@example.org"], "bcc": ["c@example.org"],
                "subject": "Hello", "body": "<p>Hi</p>", "result": "Got",
                "attachments": {"expression": {"type": "Object", "value": file}},
                "error": {"type": "WriteLine", "text": "not sent"}}
        })
    }

    #[test]
    fn the_call_says_everything() {
        let mut player = player(document());
        player.start(json!({}));
        let call = player.state().calls.values().next().unwrap();
        let Operation::Mail(mail) = &call.operation else { panic!("{call:?}") };
        assert_eq!(mail.to, ["a@example.org", "b@example.org"]);
        assert_eq!((mail.bcc.len(), mail.subject.as_str()), (1, "Hello"));
        assert_eq!(mail.attachments[0].file_name, "a.txt");
        assert_eq!(mail.attachments[0].content, "aGk=");
        assert!(player.resume("Call", json!({"messageId": "<k@example.org>"})));
        assert_eq!(player.state().output["Got"], "<k@example.org>");
    }

    #[test]
    fn a_failure_runs_the_error_port_or_is_an_incident() {
        let failed = json!({"error": "failed", "code": "550", "message": "no such user"});
        let mut handled = player(document());
        handled.start(json!({}));
        assert!(handled.resume("Call", failed.clone()));
        assert_eq!((handled.lines(), handled.incident()), (vec!["not sent"], None));
        // Nothing else tells the reason.
        let resumed = handled.journal.iter().filter(|entry| entry.what == model::What::Resumed);
        let reasons: Vec<_> = resumed.filter_map(|entry| entry.message.as_deref()).collect();
        assert_eq!(reasons, ["no such user"]);
        let mut document = document();
        document["root"]["error"] = Value::Null;
        let mut alone = player(document);
        alone.start(json!({}));
        assert!(alone.resume("Call", failed));
        assert_eq!(alone.incident(), Some("550: no such user"));
        assert_eq!(alone.state().incidents[0].code, "MailFailed");
    }

    #[test]
    fn what_cannot_be_sent_is_an_incident() {
        let nobody = json!({"type": "Elsa.SendEmail", "subject": "x"});
        let url = json!({"type": "Elsa.SendEmail", "to": ["a@example.org"],
            "attachments": "https://example.org/a.pdf"});
        for (node, expected) in [(nobody, "no receiver"), (url, "DownloadHttpFile")] {
            let mut player = player(node);
            player.start(json!({}));
            assert!(player.incident().unwrap().contains(expected), "{:?}", player.incident());
        }
    }
}
