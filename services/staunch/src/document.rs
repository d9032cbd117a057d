//! Definitions in files: YAML and JSON, in the short form or in the full form.

mod clash;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Duration;

use engine::{Engine, Env, Examined, Library, Problem};
use model::{CommandId, Definition, Misread, ScriptLibrary, Timestamp};
use serde_json::Value;
use shortform::{Flaw, Notation, Places, Tree, Vocabulary};

use crate::{Failure, input, output};

pub(crate) use clash::clashes;

/// The longest time of one script in a command that needs no server.
const SCRIPT_TIME: Duration = Duration::from_secs(5);
/// The ends of the names of files with definitions.
const ENDS: [&str; 3] = [".json", ".yaml", ".yml"];
/// The ends of the names of files with tests.
pub(crate) const TEST_ENDS: [&str; 3] = [".test.yaml", ".test.yml", ".test.json"];

static ENGINE: LazyLock<Arc<Engine>> =
    LazyLock::new(|| catalog::engine(SCRIPT_TIME, &BTreeMap::new(), &ScriptLibrary::ALL));
static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(|| Vocabulary::new(ENGINE.descriptors()));

/// The engine of this process.
pub(crate) fn engine() -> &'static Engine {
    &ENGINE
}

/// The activity types of this process.
pub(crate) fn vocabulary() -> &'static Vocabulary {
    &VOCABULARY
}

/// A definition that was read from a file.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) path: PathBuf,
    /// The full form, with the places in the file.
    pub(crate) tree: Tree,
    /// The full form, without what cannot be read.
    pub(crate) body: Value,
    /// Every part of the file that is no definition, with its line and column. Other mistakes can be
    /// found in the rest.
    pub(crate) mistakes: Vec<String>,
    /// The parts that the body lacks.
    misread: Vec<Misread>,
    /// The places of its activities, once they are asked for.
    places: OnceLock<Places>,
}

impl Document {
    /// Reads a file. A definition without an id gets the name of the file.
    ///
    /// # Errors
    /// When the file cannot be read, or is not a definition; the details have every mistake with
    /// its line and column.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let document = Self::read_all(path)?;
        if document.mistakes.is_empty() { Ok(document) } else { Err(document.refusal(Vec::new())) }
    }

    /// As [`Document::read`], and where parts of the file are no definition, the rest of it with
    /// these mistakes.
    ///
    /// # Errors
    /// When the file cannot be read, or is neither YAML nor JSON.
    pub(crate) fn read_all(path: &Path) -> Result<Self, Failure> {
        let text = input::file(path)?;
        let tree = parsed(path, &text)?;
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("workflow");
        let (tree, mut flaws) = vocabulary().expand_all(&tree, Some(stem));
        let places = Places::default();
        let mut body = tree.value();
        let misread = Definition::repair(&mut body);
        flaws.extend(misread.iter().map(|misread| {
            let mark = places.locate(&tree, None, Some(&misread.place));
            Flaw { mark, message: format!("{}: {}", misread.place, misread.message) }
        }));
        flaws.sort_by_key(|flaw| (flaw.mark.line, flaw.mark.column));
        let mistakes = lines(path, &flaws);
        let places = OnceLock::new();
        Ok(Self { path: path.to_owned(), body, mistakes, misread, tree, places })
    }

    /// The usage error for its mistakes and what else is wrong with it.
    pub(crate) fn refusal(&self, others: Vec<String>) -> Failure {
        let details = self.mistakes.iter().cloned().chain(others).collect();
        Failure::usage(format!("cannot use {}", self.path.display())).with(details)
    }

    /// The id of the definition.
    pub(crate) fn id(&self) -> String {
        output::text(&self.body, "definitionId")
    }

    /// The definition, without the parts that are mistakes.
    ///
    /// # Errors
    /// When it is none; because of its mistakes if it has some.
    pub(crate) fn definition(&self) -> Result<Definition, Failure> {
        let definition = serde_json::from_value(self.body.clone());
        let mut definition: Definition = definition.map_err(|error| {
            if !self.mistakes.is_empty() {
                return self.refusal(Vec::new());
            }
            let path = self.path.display();
            Failure::usage(format!("{path} is not a workflow definition: {error}"))
        })?;
        // A server reads it in the same way.
        engine().spell(&mut definition);
        Ok(definition)
    }

    /// The line of a problem or warning: file, line, column, activity, property and message.
    pub(crate) fn line(&self, problem: &Value) -> String {
        let text = |name: &str| problem.get(name).and_then(Value::as_str);
        let (activity, property) = (text("activityId"), text("property"));
        let property = match activity {
            None => property.map(|place| Misread::before(&self.misread, place)),
            Some(_) => property.map(str::to_owned),
        };
        let is_warning = text("severity") == Some("Warning");
        let places = self.places.get_or_init(|| vocabulary().places(&self.tree));
        let mark = places.locate(&self.tree, activity, property.as_deref());
        let mut line = format!("{}:{mark}: ", self.path.display());
        if is_warning {
            line.push_str("warning: ");
        }
        for part in
            [activity.map(|id| format!("activity {id}: ")), property.map(|it| format!("{it}: "))]
        {
            line.push_str(&part.unwrap_or_default());
        }
        line + text("message").unwrap_or_default()
    }

    /// The lines of problems that the engine found.
    pub(crate) fn lines(&self, problems: &[Problem]) -> Vec<String> {
        let value = |problem| serde_json::to_value(problem).unwrap_or_default();
        problems.iter().map(|problem| self.line(&value(problem))).collect()
    }
}

/// Reads a text in the notation that the name of its file says.
///
/// # Errors
/// When it is not in this notation.
pub(crate) fn parsed(path: &Path, text: &str) -> Result<Tree, Failure> {
    let is_json = path.extension().is_some_and(|extension| extension == "json");
    let notation = if is_json { Notation::Json } else { Notation::Yaml };
    shortform::read(text, notation).map_err(|flaw| wrong(path, &[flaw]))
}

/// A usage error for mistakes in a file.
pub(crate) fn wrong(path: &Path, flaws: &[Flaw]) -> Failure {
    Failure::usage(format!("cannot use {}", path.display())).with(lines(path, flaws))
}

fn lines(path: &Path, flaws: &[Flaw]) -> Vec<String> {
    flaws.iter().map(|flaw| format!("{}:{flaw}", path.display())).collect()
}

/// The files that arguments name: files, folders, and patterns such as `flows/*.yaml`. A folder
/// means the definitions in it, and a file that is named is meant whatever its name.
///
/// # Errors
/// When a pattern is none or a folder cannot be read.
pub(crate) fn files(
    arguments: &[PathBuf],
    is_wanted: fn(&str) -> bool,
) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    for argument in arguments {
        let text = argument.to_string_lossy();
        if argument.exists() || !text.contains(['*', '?', '[']) {
            found.extend(listed(argument, is_wanted)?);
            continue;
        }
        let matches = glob::glob(&text)
            .map_err(|error| Failure::usage(format!("{text} is not a pattern: {error}")))?;
        // A pattern takes of the files that have two meanings, such as *.test.yaml, only those that
        // are wanted; others may have any name.
        let has_other_meaning = |path: &Path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            is_test(name) && !is_wanted(name)
        };
        for path in matches.flatten().filter(|path| path.is_dir() || !has_other_meaning(path)) {
            found.extend(listed(&path, is_wanted)?);
        }
    }
    Ok(found)
}

fn listed(path: &Path, is_wanted: fn(&str) -> bool) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let unreadable = |error| Failure::usage(format!("cannot read {}: {error}", path.display()));
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.file_name().and_then(|name| name.to_str()).is_some_and(is_wanted) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Whether a file of this name holds a definition.
pub(crate) fn is_definition(name: &str) -> bool {
    ENDS.iter().any(|end| name.ends_with(end)) && !is_test(name)
}

/// Whether a file of this name holds tests.
pub(crate) fn is_test(name: &str) -> bool {
    TEST_ENDS.iter().any(|end| name.ends_with(end))
}

/// The definitions that may be used as activities, by their ids.
pub(crate) fn library(definitions: &[Definition]) -> Library {
    let mut library = Library::default();
    for user in definitions {
        for reference in engine().references(user) {
            if let Some(found) = definitions.iter().find(|it| reference.means(it)) {
                library.add(reference, named(found));
            }
        }
    }
    library
}

/// Everything that can be found out about a definition without a server.
pub(crate) fn examine(definition: &Definition, library: &Library) -> Examined {
    let env = Env {
        now: Timestamp::from_millis(0),
        seed: [0; 32],
        command_id: CommandId::new("validate"),
        installation: Arc::default(),
        contents: engine::Contents::default(),
    };
    engine().examine(definition, library, &env)
}

/// The definition with an id of its version, by which a library finds it.
fn named(definition: &Definition) -> Definition {
    let mut named = definition.clone();
    if named.id.as_str().is_empty() {
        named.id = format!("{}-1", named.definition_id).as_str().into();
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Kind;

    #[test]
    fn a_mistake_is_reported_with_its_file_line_and_column() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hello.yaml");
        std::fs::write(&path, "flow:\n  a:\n    type: WriteLine\n    next: 1\n").unwrap();
        let failure = Document::read(&path).unwrap_err();
        assert_eq!(failure.kind, Kind::Usage);
        let expected = format!("{}:4:11: next names activities by their ids", path.display());
        assert!(failure.details[0].starts_with(&expected), "{failure}");
    }

    /// Tools of Windows write one.
    #[test]
    fn a_file_may_begin_with_a_byte_order_mark() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("hello.json", r#"{"name": "Hello", "root": {"type": "WriteLine", "text": "x"}}"#),
            ("hello.yaml", "name: Hello\nroot: {type: WriteLine, text: x}\n"),
        ] {
            let path = folder.path().join(name);
            std::fs::write(&path, format!("\u{feff}{text}")).unwrap();
            let document = Document::read(&path).unwrap();
            assert_eq!(document.body["name"], "Hello", "{name}");
        }
        let path = folder.path().join("input.json");
        std::fs::write(&path, "\u{feff}{\"Amount\": 1}").unwrap();
        let input = input::parse(&format!("@{}", path.display())).unwrap();
        assert_eq!(input["Amount"], 1);
    }

    #[test]
    fn a_finding_of_the_engine_is_reported_at_its_property() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hello.yaml");
        let text = "name: Hello\nroot:\n  - type: WriteLine\n    text: {js: \"1 +\"}\n  - type: WriteLin\n";
        std::fs::write(&path, text).unwrap();
        let document = Document::read(&path).unwrap();
        let definition = document.definition().unwrap();
        assert_eq!(definition.definition_id.as_str(), "hello");
        let problems = engine().validate(&definition, &Library::default()).unwrap_err();
        let lines = document.lines(&problems);
        let shown = path.display();
        assert!(
            lines[0].starts_with(&format!("{shown}:4:5: activity WriteLine1: text: line 1")),
            "{lines:?}"
        );
        let expected =
            format!("{shown}:5:5: activity WriteLin1: type: there is no activity type WriteLin");
        assert!(lines[1].starts_with(&expected), "{lines:?}");
        assert_eq!(lines.len(), 2);
    }

    #[test]
    fn members_of_activities_are_read_in_any_case_as_a_server_reads_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("set.yaml");
        let text = "variables:\n  - {id: Total, name: Total, typeName: Int32, value: 0}\n\
                    root:\n  - {Type: SetVariable, Variable: {Id: Total, Name: Total}, Value: 7}\n";
        std::fs::write(&path, text).unwrap();
        let document = Document::read(&path).unwrap();
        let found = examine(&document.definition().unwrap(), &Library::default()).problems;
        assert_eq!(document.lines(&found), [""; 0]);
    }

    #[test]
    fn a_warning_says_that_it_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hello.yaml");
        std::fs::write(&path, "root: {type: WriteLine, text: {js: variables.Nope}}\n").unwrap();
        let document = Document::read(&path).unwrap();
        let found = examine(&document.definition().unwrap(), &Library::default()).problems;
        let line = document.lines(&found).concat();
        assert!(
            line.contains(": warning: activity WriteLine1: text: there is no variable"),
            "{line}"
        );
    }

    #[test]
    fn a_finding_about_an_input_of_a_worker_is_reported_at_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pay.yaml");
        std::fs::write(&path, "root:\n  - type: Acme.Pay\n    amount: much\n").unwrap();
        let kind = serde_json::json!({"type": "Acme.Pay", "version": 1,
            "input": {"properties": {"amount": {"type": "number"}}}});
        let mut library = Library::default();
        library.register([engine::activity_type(kind).unwrap()]);
        let document = Document::read(&path).unwrap();
        let found = examine(&document.definition().unwrap(), &library).problems;
        let lines = document.lines(&found);
        let expected = format!("{}:3:5: activity Pay1: amount: ", path.display());
        assert!(lines.iter().any(|line| line.starts_with(&expected)), "{lines:?}");
    }

    /// A part of the wrong kind has its place, and hides no other mistake.
    #[test]
    fn a_part_of_the_wrong_kind_hides_no_other_mistake() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("typo.yaml");
        let text = "nmae: Typo\nvariables: 7\nversion: often\noutcomes: [A, 2]\nroot:\n  - type: WriteLin\n";
        std::fs::write(&path, text).unwrap();
        let document = Document::read_all(&path).unwrap();
        let shown = path.display();
        let expected = [
            format!("{shown}:2:1: variables: this is 7, and has to be a list: write [ … ]"),
            format!(
                "{shown}:3:1: version: this is \"often\", and has to be a whole number from 0 on"
            ),
            format!("{shown}:4:15: outcomes[1]: this is 2, and has to be a text"),
        ];
        assert_eq!(document.mistakes, expected);
        let definition = document.definition().unwrap();
        assert!(definition.extra.contains_key("nmae"));
        assert!(engine().validate(&definition, &Library::default()).is_err());
    }

    #[test]
    fn a_mistake_in_a_declaration_is_reported_at_its_member() {
        let check = |name: &str, text: &str, expected: &[&str]| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            let document = Document::read_all(&path).unwrap();
            let definition = document.definition().unwrap();
            let problems = engine().validate(&definition, &Library::default()).unwrap_err();
            let mut lines = document.lines(&problems);
            lines.sort();
            let shown = format!("{}:", path.display());
            let places: Vec<_> = lines.iter().map(|line| line.replace(&shown, "")).collect();
            assert_eq!(places.len(), expected.len(), "{places:#?}");
            for (line, expected) in places.iter().zip(expected) {
                assert!(line.starts_with(expected), "{places:#?}");
            }
        };
        let short = "variables:\n  Good: 1\n  Count: {type: Int32, value: many}\n  \
                     Odd: {type: Acme.Odd}\ninputs:\n  A: {type: Int32, defaultValue: x}\noutputs:\n  \
                     B: Nothing\nroot:\n  type: Sequence\n  variables: {C: {type: Boolean, value: 7x}}\n";
        check(
            "short.yaml",
            short,
            &[
                "11:34: activity Sequence1: variables[0].value: the default of C is no Boolean",
                "3:24: variables[1].value: the default of Count is no Int32",
                "4:9: variables[2].typeName: the type of Odd is Acme.Odd",
                "6:20: inputs[0].defaultValue: the default of A is no Int32",
                "8:6: outputs[0].type: the type of B is Nothing",
            ],
        );
        // The first item cannot be read: those that follow keep their positions.
        let full = "{\"variables\": [7,\n {\"name\": \"A\"},\n {\"name\": \"A\"},\n \
                    {\"typeName\": \"String\"}],\n\"root\": {\"type\": \"WriteLine\"}}";
        check(
            "full.json",
            full,
            &["3:3: variables[2].name: two variables", "4:2: variables[3].name: a variable has"],
        );
    }

    /// As a server reads it: at the top as in its activities.
    #[test]
    fn names_are_read_in_any_case() {
        let folder = tempfile::tempdir().unwrap();
        let read = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            Document::read(&path)
        };
        let full = r#"{"DefinitionId": "order", "Name": "Order", "Variables": [{"Id": "t",
            "Name": "Total", "TypeName": "Int32"}], "Inputs": [{"Name": "A", "Type": "String"}],
            "Outputs": [{"Name": "B", "Type": "String"}], "Options": {"UsableAsActivity": true},
            "Root": {"Type": "Elsa.SetVariable", "Id": "s", "Variable": {"Id": "t", "Name": "Total"},
            "Value": {"TypeName": "Int32", "Expression": {"Type": "Literal", "Value": 7}}}}"#;
        let short = "DefinitionId: order\nName: Order\nVariables:\n  Total: {Type: Int32, Id: t}\n\
                     Inputs: {A: String}\nOutputs: {B: {Type: String}}\nOptions: {UsableAsActivity: \
                     true}\nRoot: {Type: SetVariable, Id: s, Variable: {Id: t, Name: Total}, Value: 7}\n";
        for (name, text) in [("full.json", full), ("short.yaml", short)] {
            let document = read(name, text).unwrap();
            assert_eq!(document.id(), "order", "{name}");
            let definition = document.definition().unwrap();
            assert!(definition.extra.is_empty(), "{name}: {:?}", definition.extra);
            assert_eq!(definition.variables[0].name, "Total", "{name}");
            assert_eq!(definition.inputs[0].name, "A", "{name}");
            assert_eq!(definition.outputs[0].name, "B", "{name}");
            let found = document.lines(&examine(&definition, &Library::default()).problems);
            let is_mistake = |line: &String| !line.contains(": warning: ");
            assert!(!found.iter().any(is_mistake), "{name}: {found:?}");
        }
        let refused = read("twice.yaml", "name: a\nName: b\nroot: []\n").unwrap_err();
        let said = refused.details.concat();
        assert!(said.contains(":2:1: Name is name once more"), "{said}");
    }

    #[test]
    fn folders_and_patterns_mean_the_definitions_in_them() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.yaml", "b.json", "a.test.yaml", "c.txt", "d.yml"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let names = |arguments: &[PathBuf]| -> Vec<String> {
            let found = files(arguments, is_definition).unwrap();
            found
                .iter()
                .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
                .collect()
        };
        assert_eq!(names(&[folder.path().to_owned()]), ["a.yaml", "b.json", "d.yml"]);
        assert_eq!(names(&[folder.path().join("*.y*ml")]), ["a.yaml", "d.yml"]);
        assert_eq!(names(&[folder.path().join("c.txt")]), ["c.txt"]);
    }
}
