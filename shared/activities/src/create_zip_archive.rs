//! CreateZipArchive: packs files into a zip archive.

use engine::{Activity, Decision, Descriptor, Failure, Next, Step, Type};
use serde_json::Value;

use crate::archive::{Entry, Level, archive};
use crate::called::{content, file_value};

/// `Elsa.CreateZipArchive`
pub(crate) struct CreateZipArchive;

const LEVELS: [&str; 4] = ["Optimal", "Fastest", "NoCompression", "SmallestSize"];

impl Activity for CreateZipArchive {
    fn descriptor(&self) -> Descriptor {
        let what = "Packs files into a zip archive; the same files give the same bytes.";
        Descriptor::new("Elsa.CreateZipArchive", "Compression", what)
            .called("Create Zip Archive")
            .input("entries", Type::Object, "A file, or a list of files: {fileName, content}.")
            .input("compressionLevel", Type::Enum(&LEVELS), "The compression.")
            .default("Optimal")
            .output("result", Type::Object, "The archive, as a file.")
            .outcomes(&["Done"])
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let entries = step.value("entries")?;
        let entries = match step.loaded("entries", entries)? {
            Value::Null => Vec::new(),
            Value::Array(items) => items,
            single => vec![single],
        };
        let level = match step.text("compressionLevel")?.as_deref() {
            Some("NoCompression") => Level::None,
            Some("Fastest") => Level::Fastest,
            Some("SmallestSize") => Level::Smallest,
            _ => Level::Optimal,
        };
        let entries = entries.iter().enumerate().map(entry).collect::<Result<_, _>>()?;
        let bytes = archive(entries, level)?;
        step.set_output("result", file_value("archive.zip", "application/zip", &bytes))?;
        Ok(Next::done())
    }
}

/// A file, or `{entryName, content}` with any content.
pub(crate) fn entry((position, value): (usize, &Value)) -> Result<Entry, Failure> {
    let usual = || format!("file{}", position + 1);
    let named = value.as_object().and_then(|map| {
        let (_, name) = map.iter().find(|(key, _)| key.eq_ignore_ascii_case("entryName"))?;
        let (_, inner) = map.iter().find(|(key, _)| key.eq_ignore_ascii_case("content"))?;
        Some((name.as_str()?.to_owned(), inner))
    });
    match named {
        Some((name, inner)) => Ok(Entry { name, bytes: content("entries", inner)?.bytes }),
        None => {
            let file = content("entries", value)?;
            Ok(Entry { name: file.file_name.unwrap_or_else(usual), bytes: file.bytes })
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tests::player;

    #[test]
    fn files_become_an_archive() {
        let entries = json!([{"fileName": "a.txt", "content": "aGk="},
            {"entryName": "b/c.json", "content": {"x": 1}}, "plain"]);
        let mut player = player(json!({
            "outputs": [{"name": "Got"}],
            "root": {"type": "Elsa.CreateZipArchive", "result": "Got",
                "entries": {"expression": {"type": "Object", "value": entries}}}
        }));
        player.start(json!({}));
        assert_eq!(player.incident(), None);
        let file = content("x", &player.state().output["Got"]).unwrap();
        let read = zip::ZipArchive::new(std::io::Cursor::new(file.bytes)).unwrap();
        let names: Vec<_> = read.file_names().map(|name| name.unwrap().into_owned()).collect();
        assert_eq!(names, ["a.txt", "b/c.json", "file3"]);
        assert_eq!(file.content_type.as_deref(), Some("application/zip"));
    }
}
