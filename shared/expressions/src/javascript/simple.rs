//! Scripts that are one simple expression, like most scripts in real workflows. They are evaluated
//! without QuickJS and give the same value.
//!
//! The parser reads the whole text or nothing. The evaluation is pure, and gives up where
//! JavaScript would convert between types, throw, or look into a prototype. Then QuickJS evaluates
//! the script.

mod evaluate;
mod parse;
#[cfg(test)]
mod tests;

use engine::Scope;
use serde_json::Value;

/// A script that may have a value without QuickJS.
#[derive(Debug)]
pub(super) struct Simple(Expr);

/// A simple expression.
#[derive(Clone, Debug, PartialEq)]
enum Expr {
    Undefined,
    Literal(Value),
    /// `variables.X` or `getVariable("X")`; the latter is null where the former is undefined.
    Variable(String, Missing),
    /// `getInput("X")`
    Input(String),
    /// `args.x`
    Argument(String),
    /// `getX()`
    Accessor(String),
    /// `getOutputFrom("X", "Y")`
    Output(String, Option<String>),
    /// A function of ours without arguments.
    Fact(Fact),
    /// A value, and the members that are looked up in it, from left to right.
    Chain(Box<Expr>, Vec<Step>),
    Not(Box<Expr>),
    Negative(Box<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
    /// The parts of a template literal.
    Text(Vec<Expr>),
}

/// The value of a variable that does not exist.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Missing {
    Undefined,
    Null,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fact {
    LastResult,
    DefinitionId,
    VersionId,
    Version,
    InstanceId,
    InstanceName,
    CorrelationId,
}

#[derive(Clone, Debug, PartialEq)]
struct Step {
    /// `?.` instead of `.`
    optional: bool,
    at: At,
}

#[derive(Clone, Debug, PartialEq)]
enum At {
    Name(String),
    Computed(Expr),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Same,
    NotSame,
    Equal,
    NotEqual,
}

impl Simple {
    /// Parses the text; None if it is not simple.
    pub(super) fn parse(source: &str) -> Option<Self> {
        let mut text = source.trim();
        if let Some(rest) = text.strip_prefix("return")
            && rest.starts_with([' ', '\t'])
        {
            text = rest.trim_start_matches([' ', '\t']);
            if text.starts_with(['\n', '\r']) {
                return None;
            }
        }
        let text = text.strip_suffix(';').unwrap_or(text);
        parse::expression(text).map(Self)
    }

    /// The value; None if QuickJS has to evaluate the script.
    pub(super) fn evaluate(&self, scope: &dyn Scope) -> Option<Value> {
        evaluate::value(&self.0, scope)
    }
}
