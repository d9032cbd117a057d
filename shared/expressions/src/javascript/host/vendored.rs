//! The libraries that the installation gives to its scripts: lodash and moment.
//!
//! A library is read where a script first uses it, so one that is off, or that a script does not
//! name, costs nothing. A script that names one gets all of our globals: the library uses the clock
//! and the random numbers, which are those of the turn.

use rquickjs::{Ctx, Exception, Function, Result};

use super::Host;

/// The text of a library is the body of a function with these parameters.
const BEFORE: &str = "(function (global, module, exports, require) {";
const AFTER: &str = "\n})";

impl<'js> Host<'_, 'js> {
    pub(super) fn vendored(&self) -> Result<()> {
        let known = self.facts.libraries.iter().flat_map(|library| {
            let own = library.globals().first().copied().unwrap_or_default();
            library.globals().iter().map(move |name| vec![*name, own])
        });
        let names: Vec<_> = known.filter(|names| self.plan.mentions(names[0])).collect();
        if names.is_empty() {
            return Ok(());
        }
        let read = Function::new(self.ctx.clone(), read)?;
        self.prelude(include_str!("../prelude/library.js"))?.call::<_, ()>((names, read))
    }
}

/// The function that makes a library.
fn read(ctx: Ctx<'_>, file: String) -> Result<Function<'_>> {
    let text = match file.as_str() {
        "lodash" => include_str!("../vendor/lodash/lodash.min.js"),
        "fp" => include_str!("../vendor/lodash/fp.js"),
        "mapping" => include_str!("../vendor/lodash/fp-mapping.js"),
        "moment" => include_str!("../vendor/moment/moment.min.js"),
        _ => return Err(Exception::throw_type(&ctx, "there is no such library")),
    };
    let mut options = rquickjs::context::EvalOptions::default();
    options.filename = Some("library".to_owned());
    options.strict = false;
    ctx.eval_with_options(format!("{BEFORE}{text}{AFTER}"), options)
}
