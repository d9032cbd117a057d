//! Limits the filters of the library, and defines our own.

use std::fmt;

use liquid_core::parser::{FilterArguments, ParameterReflection};
use liquid_core::{
    Error, Expression, Filter, FilterReflection, ParseFilter, Result, Runtime, Value, ValueCow,
    ValueView,
};

use super::budget;

/// A filter of the library with a limit on the size of its input and its result.
#[derive(Clone)]
pub(super) struct Checked<F>(pub(super) F);

impl<F: ParseFilter + Clone + 'static> ParseFilter for Checked<F> {
    fn parse(&self, arguments: FilterArguments<'_>) -> Result<Box<dyn Filter>> {
        Ok(Box::new(CheckedFilter(self.0.parse(arguments)?)))
    }

    fn reflection(&self) -> &dyn FilterReflection {
        self.0.reflection()
    }
}

#[derive(Debug)]
struct CheckedFilter(Box<dyn Filter>);

impl fmt::Display for CheckedFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Filter for CheckedFilter {
    fn evaluate(&self, input: &dyn ValueView, runtime: &dyn Runtime) -> Result<Value> {
        budget::check_time(runtime)?;
        budget::check_size(input)?;
        let value = self.0.evaluate(input, runtime)?;
        budget::check_size(&value)?;
        Ok(value)
    }
}

/// The function of one of our own filters.
pub(super) type Run = fn(&dyn ValueView, &[ValueCow<'_>], &dyn Runtime) -> Result<Value>;

/// A filter of our own.
#[derive(Clone)]
pub(super) struct Own {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) arguments_max: usize,
    pub(super) run: Run,
}

impl FilterReflection for Own {
    fn name(&self) -> &str {
        self.name
    }

    fn description(&self) -> &str {
        self.description
    }

    fn positional_parameters(&self) -> &'static [ParameterReflection] {
        &[]
    }

    fn keyword_parameters(&self) -> &'static [ParameterReflection] {
        &[]
    }
}

impl ParseFilter for Own {
    fn parse(&self, arguments: FilterArguments<'_>) -> Result<Box<dyn Filter>> {
        let given: Vec<Expression> = arguments.positional.collect();
        if given.len() > self.arguments_max || arguments.keyword.count() > 0 {
            return Err(Error::with_msg(format!(
                "the filter {} takes at most {} arguments",
                self.name, self.arguments_max
            )));
        }
        Ok(Box::new(OwnFilter { name: self.name, given, run: self.run }))
    }

    fn reflection(&self) -> &dyn FilterReflection {
        self
    }
}

#[derive(Debug)]
struct OwnFilter {
    name: &'static str,
    given: Vec<Expression>,
    run: Run,
}

impl fmt::Display for OwnFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Filter for OwnFilter {
    fn evaluate(&self, input: &dyn ValueView, runtime: &dyn Runtime) -> Result<Value> {
        budget::check_time(runtime)?;
        budget::check_size(input)?;
        let given: Result<Vec<_>> = self.given.iter().map(|one| one.evaluate(runtime)).collect();
        let value = (self.run)(input, &given?, runtime)?;
        budget::check_size(&value)?;
        Ok(value)
    }
}
