//! Definitions in the full form and in the short one, as files and bodies have them.

use std::sync::LazyLock;

use anyhow::{Result, ensure};
use engine::{Engine, Library};
use model::Definition;
use serde_json::Value;
use shortform::{Notation, Vocabulary, read, write};

use crate::choice::choice;

static ENGINE: LazyLock<Engine> =
    LazyLock::new(|| Engine::new(activities::all(), expressions::all()));
static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(|| Vocabulary::new(ENGINE.descriptors()));

/// The first byte chooses the notation.
pub(crate) fn run(bytes: &[u8]) -> Result<()> {
    let (first, bytes) = choice(bytes);
    let Ok(text) = str::from_utf8(bytes) else { return Ok(()) };
    let notation = if first % 2 == 0 { Notation::Json } else { Notation::Yaml };
    let Ok(tree) = read(text, notation) else { return Ok(()) };
    let Ok(full) = VOCABULARY.expand(&tree, Some("fuzzed")) else { return Ok(()) };
    let full = full.value();
    keeps_everything(&full)?;
    let Ok(definition) = serde_json::from_value::<Definition>(full) else { return Ok(()) };
    let library = Library::default();
    if ENGINE.validate(&definition, &library).is_ok() {
        let examined = ENGINE.compile(&definition, &library);
        ensure!(examined.is_ok(), "it can be published, and not be compiled: {:?}", examined.err());
    }
    Ok(())
}

/// The short form of a definition means the same as its full form.
fn keeps_everything(full: &Value) -> Result<()> {
    let text = write(&VOCABULARY.shorten(full));
    let back = match read(&text, Notation::Yaml) {
        Ok(back) => VOCABULARY.expand(&back, None),
        Err(flaw) => anyhow::bail!("{flaw}: {text}"),
    };
    match back {
        Ok(back) => ensure!(&back.value() == full, "{full} became {}", back.value()),
        Err(flaws) => anyhow::bail!("{flaws:?}: {text}"),
    }
    Ok(())
}
