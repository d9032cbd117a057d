//! OpenFile: reads a file below the configured folder.

use engine::{Activity, Decision, Descriptor, FileAccess, Kind, Next, Resumed, Step, Type};
use serde_json::Value;

use crate::called;

/// `Elsa.OpenFile`
pub(crate) struct OpenFile;

impl Activity for OpenFile {
    fn descriptor(&self) -> Descriptor {
        let what = "Reads a file below the folder of the setting `files-folder`; off without it.";
        Descriptor::new("Elsa.OpenFile", "Files", what)
            .called("Open File")
            .kind(Kind::Task)
            .calls()
            .input("path", Type::String, "The path, relative to the folder.")
            .required()
            .output("result", Type::Object, "The file: its name, size, and content in base64.")
            .outcomes(&["Done"])
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let path = step.required("path")?;
        step.call(FileAccess::Open { path }, None)?;
        Ok(Next::Wait)
    }

    fn resume(&self, step: &mut Step<'_, '_>, mut resumed: Resumed) -> Decision {
        if let Some(failure) = called::failure(&resumed.input, "File") {
            return Err(failure);
        }
        resumed.input.insert("contentType".to_owned(), "application/octet-stream".into());
        step.set_output("result", Value::Object(resumed.input))?;
        Ok(Next::done())
    }
}

#[cfg(test)]
mod tests {
    use engine::Operation;
    use serde_json::json;

    use super::*;
    use crate::tests::player;

    #[test]
    fn the_file_is_the_result() {
        let mut player = player(json!({
            "outputs": [{"name": "Got"}],
            "root": {"type": "Elsa.OpenFile", "path": "in/a.txt", "result": "Got"}
        }));
        player.start(json!({}));
        let call = player.state().calls.values().next().unwrap();
        let open = FileAccess::Open { path: "in/a.txt".into() };
        assert_eq!(call.operation, Operation::File(open));
        let file = json!({"fileName": "a.txt", "size": 2, "content": "aGk="});
        assert!(player.resume("Call", file));
        assert_eq!(player.state().output["Got"]["content"], "aGk=");
        assert_eq!(player.state().output["Got"]["contentType"], "application/octet-stream");
    }

    #[test]
    fn a_failure_is_an_incident_with_its_code() {
        let mut player = player(json!({"type": "Elsa.OpenFile", "path": "a"}));
        player.start(json!({}));
        assert!(player.resume("Call", json!({"error": "refused", "message": "files are off"})));
        assert_eq!(player.state().incidents[0].code, "FileRefused");
    }
}
