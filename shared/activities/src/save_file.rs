//! SaveFile: writes a file below the configured folder.

use engine::{Activity, Decision, Descriptor, FileAccess, Kind, Next, Resumed, Step, Type};

use crate::called::{self, content, encoded};

/// `Elsa.SaveFile`
pub(crate) struct SaveFile;

impl Activity for SaveFile {
    fn descriptor(&self) -> Descriptor {
        let what = "Writes a file below the folder of the setting `files-folder`; off without it. \
                    A crash may write the whole file again; what is appended is appended once.";
        Descriptor::new("Elsa.SaveFile", "Files", what)
            .called("Save File")
            .kind(Kind::Task)
            .calls()
            .input("data", Type::Object, "Text, a file, or anything else as JSON.")
            .input("path", Type::String, "The path, relative to the folder.")
            .required()
            .input("append", Type::Boolean, "Behind the end of the file.")
            .default(false)
            .output("result", Type::String, "The path.")
            .outcomes(&["Done"])
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let path = step.required("path")?;
        let content = content("data", &step.content("data")?)?;
        let (data, payload) = (encoded(&content.bytes), content.payload);
        let append = step.flag("append")?;
        step.call(FileAccess::Save { path, data, payload, append }, None)?;
        Ok(Next::Wait)
    }

    fn resume(&self, step: &mut Step<'_, '_>, mut resumed: Resumed) -> Decision {
        if let Some(failure) = called::failure(&resumed.input, "File") {
            return Err(failure);
        }
        step.set_output("result", resumed.input.remove("path").unwrap_or_default())?;
        Ok(Next::done())
    }
}

#[cfg(test)]
mod tests {
    use engine::Operation;
    use serde_json::{Value, json};

    use super::*;
    use crate::tests::player;

    #[test]
    fn text_files_and_json_are_written() {
        let check = |data: Value, append: bool, expected: &str| {
            let data = json!({"expression": {"type": "Object", "value": data}});
            let node = json!({"type": "Elsa.SaveFile", "path": "out/a", "data": data,
                "append": append});
            let mut player = player(node);
            player.start(json!({}));
            let call = player.state().calls.values().next().unwrap();
            let data = encoded(expected.as_bytes());
            let save = FileAccess::Save { path: "out/a".into(), data, payload: None, append };
            assert_eq!(call.operation, Operation::File(save));
            assert!(player.resume("Call", json!({"path": "out/a", "size": 2})));
            assert!(player.status().is_final());
        };
        check(json!({"fileName": "x", "content": "aGk="}), true, "hi");
        check(json!({"a": 1}), false, r#"{"a":1}"#);
    }

    #[test]
    fn a_large_file_is_written_from_its_payload() {
        let hash = model::PayloadHash::of(b"hi");
        let data = model::file::large("x", "x/y", 2, &hash);
        let data = json!({"expression": {"type": "Object", "value": data}});
        let mut player = player(json!({"type": "Elsa.SaveFile", "path": "a", "data": data}));
        player.start(json!({}));
        let call = player.state().calls.values().next().unwrap();
        let (path, data) = ("a".to_owned(), String::new());
        let save = FileAccess::Save { path, data, payload: Some(hash), append: false };
        assert_eq!(call.operation, Operation::File(save));
    }
}
