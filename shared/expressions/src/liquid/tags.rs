//! Tags of our own: `echo`, and the refusal of tags that would read another template.

use std::io::Write;

use liquid_core::parser::FilterChain;
use liquid_core::{
    Error, Language, ParseTag, Renderable, Result, Runtime, TagReflection, TagTokenIter,
};

use super::convert;

/// The parser of `{% echo value | filter %}`.
#[derive(Clone, Debug)]
pub(super) struct Echo;

impl TagReflection for Echo {
    fn tag(&self) -> &str {
        "echo"
    }

    fn description(&self) -> &str {
        "Shows a value."
    }
}

impl ParseTag for Echo {
    fn parse(
        &self,
        mut arguments: TagTokenIter<'_>,
        options: &Language,
    ) -> Result<Box<dyn Renderable>> {
        let value = arguments.expect_next("a value is expected")?;
        let value = value.expect_filter_chain(options).into_result()?;
        arguments.expect_nothing()?;
        Ok(Box::new(Shown(value)))
    }

    fn reflection(&self) -> &dyn TagReflection {
        self
    }
}

#[derive(Debug)]
struct Shown(FilterChain);

impl Renderable for Shown {
    fn render_to(&self, writer: &mut dyn Write, runtime: &dyn Runtime) -> Result<()> {
        let value = self.0.evaluate(runtime)?;
        let shown = convert::show(value.as_view());
        writer
            .write_all(shown.as_bytes())
            .map_err(|error| Error::with_msg(format!("a value cannot be shown: {error}")))
    }
}

/// The parser of a tag that would read another template: there is none.
#[derive(Clone, Debug)]
pub(super) struct Other(pub(super) &'static str);

impl TagReflection for Other {
    fn tag(&self) -> &str {
        self.0
    }

    fn description(&self) -> &str {
        "Is refused."
    }
}

impl ParseTag for Other {
    fn parse(&self, _: TagTokenIter<'_>, _: &Language) -> Result<Box<dyn Renderable>> {
        let name = self.0;
        Err(Error::with_msg(format!(
            "{name} reads another template, and there are none: write its text here, or keep it in \
             a variable"
        )))
    }

    fn reflection(&self) -> &dyn TagReflection {
        self
    }
}
