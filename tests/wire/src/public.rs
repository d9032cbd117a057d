//! What is promised to clients of NATS: the JSON Schemas of all public messages
//! (`schema/messages`), and the AsyncAPI document of all subjects (`schema/api/asyncapi.json`). Both
//! are made from the types.

mod asyncapi;
mod channels;
mod compatible;
mod schemas;

use std::path::{Path, PathBuf};

use schemars::generate::{Contract, SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

/// One kind of message.
pub(crate) struct Kind {
    /// Its name: of the file, with `-`, and of the component.
    pub(crate) name: &'static str,
    /// Staunch reads it, or writes it.
    pub(crate) contract: Contract,
    /// A member that the type does not have is refused.
    pub(crate) is_exact: bool,
    /// Another name of a member, with the name that the type has: a message has one of the two.
    pub(crate) alias: Option<(&'static str, &'static str)>,
    /// It is for Staunch itself: its form may change from version to version.
    pub(crate) is_internal: bool,
    pub(crate) whole: fn(SchemaGenerator) -> Schema,
    pub(crate) part: fn(&mut SchemaGenerator) -> Schema,
}

impl Kind {
    fn of<T: JsonSchema>(name: &'static str, contract: Contract) -> Self {
        Self {
            name,
            is_exact: false,
            alias: None,
            is_internal: false,
            whole: |generator| generator.into_root_schema_for::<T>(),
            part: |generator| generator.subschema_for::<T>(),
            contract,
        }
    }

    fn read<T: JsonSchema>(name: &'static str) -> Self {
        Self { is_exact: true, ..Self::of::<T>(name, Contract::Deserialize) }
    }

    fn written<T: JsonSchema>(name: &'static str) -> Self {
        Self::of::<T>(name, Contract::Serialize)
    }

    fn internal<T: JsonSchema>(name: &'static str) -> Self {
        Self { is_internal: true, ..Self::written::<T>(name) }
    }

    fn or(self, alias: &'static str, name: &'static str) -> Self {
        Self { alias: Some((alias, name)), ..self }
    }

    /// Completes a schema with what the type does not say.
    fn complete(&self, schema: &mut Value) {
        if self.is_exact {
            schema["additionalProperties"] = json!(false);
        }
        if let Some((alias, name)) = self.alias {
            schema["properties"][alias] = schema["properties"][name].clone();
            schema["not"] = json!({"required": [alias, name]});
        }
    }

    fn is_read(&self) -> bool {
        self.contract == Contract::Deserialize
    }
}

/// Every kind of message that has a type of its own.
pub(crate) fn kinds() -> Vec<Kind> {
    vec![
        Kind::read::<protocol::Start>("start"),
        Kind::read::<protocol::Resume>("resume"),
        Kind::read::<protocol::Cancel>("cancel"),
        Kind::read::<protocol::Alter>("alter"),
        Kind::read::<protocol::EventRaised>("event").or("input", "payload"),
        Kind::read::<protocol::TaskCompleted>("task-result").or("output", "result"),
        Kind::read::<model::ActivityType>("activity-type"),
        Kind::written::<protocol::Outcome>("outcome"),
        Kind::written::<protocol::LifecycleEvent>("lifecycle-event"),
        Kind::written::<protocol::AuditEvent>("audit-event"),
        Kind::written::<protocol::BurstJournal>("burst-journal"),
        Kind::written::<protocol::TaskRequest>("task"),
        Kind::written::<protocol::TaskCancelled>("task-cancel"),
        Kind::written::<protocol::TaskProgress>("task-progress"),
        Kind::internal::<protocol::Noticed>("noticed"),
        Kind::internal::<protocol::CachePosition>("cache-position"),
        Kind::internal::<protocol::TimerArmed>("timer-armed"),
        Kind::internal::<protocol::Runtime>("runtime"),
    ]
}

fn settings(contract: &Contract) -> SchemaSettings {
    let settings = SchemaSettings::draft2020_12();
    match contract {
        Contract::Deserialize => settings.for_deserialize(),
        _ => settings.for_serialize(),
    }
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema").join(name)
}

/// The JSON of a file, as people read it.
fn text(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap() + "\n"
}

/// Whether files are to be written as they should be.
#[expect(clippy::disallowed_methods, reason = "how snapshots are updated everywhere here")]
fn is_update() -> bool {
    std::env::var("UPDATE_EXPECT").is_ok()
}

/// Checks that a file has this text. With `UPDATE_EXPECT=1` it is written there.
fn must_have(path: &Path, text: &str) {
    if is_update() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(found == text, "{} is old: UPDATE_EXPECT=1 cargo test -p wire", path.display());
}
