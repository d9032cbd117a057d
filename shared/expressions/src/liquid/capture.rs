//! `{% capture name %}…{% endcapture %}`, bounded.

use std::io::Write;

use liquid_core::model::KString;
use liquid_core::{
    BlockReflection, Error, Language, ParseBlock, Renderable, Result, Runtime, TagBlock,
    TagTokenIter, Template, Value,
};

use super::budget::{Bounded, VALUE_BYTES_MAX};

/// The parser of the block.
#[derive(Clone, Debug)]
pub(super) struct Capture;

impl BlockReflection for Capture {
    fn start_tag(&self) -> &str {
        "capture"
    }

    fn end_tag(&self) -> &str {
        "endcapture"
    }

    fn description(&self) -> &str {
        "Renders its body into a variable."
    }
}

impl ParseBlock for Capture {
    fn parse(
        &self,
        mut arguments: TagTokenIter<'_>,
        mut block: TagBlock<'_, '_>,
        options: &Language,
    ) -> Result<Box<dyn Renderable>> {
        let name =
            arguments.expect_next("a name is expected")?.expect_identifier().into_result()?;
        let name = KString::from_ref(name);
        arguments.expect_nothing()?;
        let body = Template::new(block.parse_all(options)?);
        block.assert_empty();
        Ok(Box::new(Captured { name, body }))
    }

    fn reflection(&self) -> &dyn BlockReflection {
        self
    }
}

#[derive(Debug)]
struct Captured {
    name: KString,
    body: Template,
}

impl Renderable for Captured {
    fn render_to(&self, _: &mut dyn Write, runtime: &dyn Runtime) -> Result<()> {
        let mut text = Bounded::new(VALUE_BYTES_MAX);
        self.body.render_to(&mut text, runtime)?;
        let text = text.into_text().or(Err(Error::with_msg("the captured text is not UTF-8")))?;
        runtime.set_global(self.name.clone(), Value::scalar(text));
        Ok(())
    }
}
