//! Parses a simple expression. A text with anything unknown to this parser is not simple.

use serde_json::Value;

use super::{At, Expr, Fact, Missing, Operator, Step};
use crate::javascript::convert;
use crate::javascript::words::{FUNCTIONS, is_word_char};

/// The nesting limit of brackets, conditions and signs.
const DEPTH_MAX: usize = 32;

/// Parses the whole text as one expression.
pub(super) fn expression(text: &str) -> Option<Expr> {
    let mut parser = Parser { rest: text, depth: 0 };
    let expr = parser.choice()?;
    parser.skip_space();
    parser.rest.is_empty().then_some(expr)
}

struct Parser<'t> {
    rest: &'t str,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    fn take(&mut self, token: &str) -> Option<()> {
        self.skip_space();
        self.rest = self.rest.strip_prefix(token)?;
        Some(())
    }

    fn word(&mut self) -> Option<&'t str> {
        self.skip_space();
        let end = self.rest.find(|c| !is_word_char(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        if word.is_empty() || word.starts_with(char::is_numeric) || !word.is_ascii() {
            return None;
        }
        self.rest = rest;
        Some(word)
    }

    fn choice(&mut self) -> Option<Expr> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return None;
        }
        let condition = self.or()?;
        self.skip_space();
        let is_choice = self.rest.starts_with('?') && !self.rest.starts_with("??");
        let expr = if is_choice {
            self.take("?")?;
            let yes = self.choice()?;
            self.take(":")?;
            let no = self.choice()?;
            Expr::Choice(Box::new(condition), Box::new(yes), Box::new(no))
        } else {
            condition
        };
        self.depth -= 1;
        Some(expr)
    }

    fn or(&mut self) -> Option<Expr> {
        let mut left = self.and()?;
        while self.take("||").is_some() {
            left = Expr::Or(Box::new(left), Box::new(self.and()?));
        }
        Some(left)
    }

    fn and(&mut self) -> Option<Expr> {
        let mut left = self.binary(0)?;
        while self.take("&&").is_some() {
            left = Expr::And(Box::new(left), Box::new(self.binary(0)?));
        }
        Some(left)
    }

    /// Operators of one level, from equality down to multiplication.
    fn binary(&mut self, level: usize) -> Option<Expr> {
        use Operator as O;
        const LEVELS: [&[(&str, Operator)]; 4] = [
            &[("===", O::Same), ("!==", O::NotSame), ("==", O::Equal), ("!=", O::NotEqual)],
            &[("<=", O::LessOrEqual), (">=", O::GreaterOrEqual), ("<", O::Less), (">", O::Greater)],
            &[("+", O::Add), ("-", O::Subtract)],
            &[("*", O::Multiply), ("/", O::Divide), ("%", O::Remainder)],
        ];
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        loop {
            self.skip_space();
            // Longer operators that begin with the same characters, comments and assignments are
            // not simple.
            let foreign = ["++", "--", "**", "//", "/*", "<<", ">>", "+=", "-=", "*=", "/=", "%="];
            if foreign.iter().any(|token| self.rest.starts_with(token)) {
                return None;
            }
            let found = operators.iter().find(|(token, _)| self.rest.starts_with(token));
            let Some((token, operator)) = found else { return Some(left) };
            self.take(token)?;
            let right = self.binary(level + 1)?;
            left = Expr::Binary(*operator, Box::new(left), Box::new(right));
        }
    }

    fn unary(&mut self) -> Option<Expr> {
        self.skip_space();
        if self.rest.starts_with("--") || self.rest.starts_with("++") {
            return None;
        }
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return None;
        }
        let expr = if self.take("!").is_some() {
            Expr::Not(Box::new(self.unary()?))
        } else if self.take("-").is_some() {
            Expr::Negative(Box::new(self.unary()?))
        } else {
            self.chain()?
        };
        self.depth -= 1;
        Some(expr)
    }

    fn chain(&mut self) -> Option<Expr> {
        let first = self.primary()?;
        let mut steps = Vec::new();
        loop {
            self.skip_space();
            let digit_follows =
                self.rest.get(2..).is_some_and(|rest| rest.starts_with(|c: char| c.is_numeric()));
            let optional = self.rest.starts_with("?.") && !digit_follows;
            if optional {
                self.take("?.")?;
            }
            let at = if self.take("[").is_some() {
                let index = self.choice()?;
                self.take("]")?;
                At::Computed(index)
            } else if optional || self.take(".").is_some() {
                At::Name(self.word()?.to_owned())
            } else {
                break;
            };
            steps.push(Step { optional, at });
        }
        // A call, or a tagged template.
        if self.rest.starts_with(['(', '`']) {
            return None;
        }
        Some(if steps.is_empty() { first } else { Expr::Chain(Box::new(first), steps) })
    }

    fn primary(&mut self) -> Option<Expr> {
        self.skip_space();
        match self.rest.chars().next()? {
            '(' => {
                self.take("(")?;
                let expr = self.choice()?;
                self.take(")")?;
                Some(expr)
            }
            '"' | '\'' => self.string().map(|text| Expr::Literal(Value::String(text))),
            '`' => self.template(),
            c if c.is_ascii_digit() => self.number(),
            _ => self.name(),
        }
    }

    fn number(&mut self) -> Option<Expr> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit() && c != '.');
        let (text, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        // 010 is octal, and with more than 15 digits a double begins to round.
        let plain = is_digits(whole)
            && is_digits(fraction)
            && (whole == "0" || !whole.starts_with('0'))
            && text.len() <= 15
            && !rest.starts_with(is_word_char);
        self.rest = rest;
        if !plain {
            return None;
        }
        text.parse::<f64>().ok().map(|number| Expr::Literal(convert::number(number)))
    }

    fn string(&mut self) -> Option<String> {
        self.skip_space();
        let quote = self.rest.chars().next().filter(|first| matches!(first, '"' | '\''))?;
        let (text, rest) = self.rest.get(1..)?.split_once(quote)?;
        if text.contains(['\\', '\n', '\r']) {
            return None;
        }
        self.rest = rest;
        Some(text.to_owned())
    }

    fn template(&mut self) -> Option<Expr> {
        self.take("`")?;
        let mut parts = Vec::new();
        loop {
            let end = self.rest.find(['`', '$', '\\', '\r'])?;
            let (text, rest) = self.rest.split_at(end);
            if !text.is_empty() {
                parts.push(Expr::Literal(Value::String(text.to_owned())));
            }
            self.rest = rest;
            if let Some(rest) = rest.strip_prefix('`') {
                self.rest = rest;
                return Some(Expr::Text(parts));
            }
            self.rest = rest.strip_prefix("${")?;
            parts.push(self.choice()?);
            self.skip_space();
            self.rest = self.rest.strip_prefix('}')?;
        }
    }

    fn name(&mut self) -> Option<Expr> {
        let word = self.word()?;
        match word {
            "true" => return Some(Expr::Literal(Value::Bool(true))),
            "false" => return Some(Expr::Literal(Value::Bool(false))),
            "null" => return Some(Expr::Literal(Value::Null)),
            "undefined" => return Some(Expr::Undefined),
            "variables" => {
                self.take(".")?;
                return Some(Expr::Variable(self.word()?.to_owned(), Missing::Undefined));
            }
            "args" => {
                self.take(".")?;
                return Some(Expr::Argument(self.word()?.to_owned()));
            }
            _ => {}
        }
        self.take("(")?;
        let expr = match word {
            "getVariable" => Expr::Variable(self.name_argument()?, Missing::Null),
            "getInput" => Expr::Input(self.name_argument()?),
            "getOutputFrom" => {
                let activity = self.name_argument()?;
                let output = match self.take(",") {
                    Some(()) => Some(self.name_argument()?),
                    None => None,
                };
                Expr::Output(activity, output)
            }
            word => match fact(word) {
                Some(fact) => Expr::Fact(fact),
                None if word.starts_with("get") && !FUNCTIONS.contains(&word) => {
                    Expr::Accessor(word.to_owned())
                }
                None => return None,
            },
        };
        self.take(")")?;
        Some(expr)
    }

    fn name_argument(&mut self) -> Option<String> {
        self.string().filter(|name| !name.is_empty())
    }
}

fn fact(word: &str) -> Option<Fact> {
    match word {
        "getLastResult" => Some(Fact::LastResult),
        "getWorkflowDefinitionId" => Some(Fact::DefinitionId),
        "getWorkflowDefinitionVersionId" => Some(Fact::VersionId),
        "getWorkflowDefinitionVersion" => Some(Fact::Version),
        "getWorkflowInstanceId" => Some(Fact::InstanceId),
        "getWorkflowInstanceName" => Some(Fact::InstanceName),
        "getCorrelationId" => Some(Fact::CorrelationId),
        _ => None,
    }
}
