//! `{% for item in items limit:2 offset:1 reversed %}…{% else %}…{% endfor %}`, bounded.

use std::io::Write;

use liquid_core::model::{KString, Scalar};
use liquid_core::parser::{BlockElement, TryMatchToken};
use liquid_core::runtime::{Interrupt, InterruptRegister};
use liquid_core::{
    BlockReflection, Error, Expression, Language, Object, ParseBlock, Renderable, Result, Runtime,
    TagBlock, TagTokenIter, Template, Value, ValueView,
};

use super::budget::{self, ROUNDS_MAX};
use super::convert;
use super::lookup::Round;

/// The parser of the block.
#[derive(Clone, Debug)]
pub(super) struct For;

impl BlockReflection for For {
    fn start_tag(&self) -> &str {
        "for"
    }

    fn end_tag(&self) -> &str {
        "endfor"
    }

    fn description(&self) -> &str {
        "Renders its body once for each item."
    }
}

impl ParseBlock for For {
    fn parse(
        &self,
        mut arguments: TagTokenIter<'_>,
        mut block: TagBlock<'_, '_>,
        options: &Language,
    ) -> Result<Box<dyn Renderable>> {
        let (name, items) = Items::read(&mut arguments)?;
        let mut made = Loop {
            name,
            items,
            limit: None,
            offset: None,
            reversed: false,
            body: Template::new(Vec::new()),
            otherwise: None,
        };
        made.read_modifiers(&mut arguments)?;
        made.read_body(&mut block, options)?;
        block.assert_empty();
        Ok(Box::new(made))
    }

    fn reflection(&self) -> &dyn BlockReflection {
        self
    }
}

#[derive(Debug)]
struct Loop {
    name: KString,
    items: Items,
    limit: Option<Expression>,
    offset: Option<Expression>,
    reversed: bool,
    body: Template,
    otherwise: Option<Template>,
}

#[derive(Debug)]
pub(super) enum Items {
    Of(Expression),
    Between(Expression, Expression),
}

impl Items {
    /// Reads `name in items`.
    pub(super) fn read(arguments: &mut TagTokenIter<'_>) -> Result<(KString, Self)> {
        let name =
            arguments.expect_next("a name is expected")?.expect_identifier().into_result()?;
        let name = KString::from_ref(name);
        arguments.expect_next("\"in\" is expected")?.expect_str("in").into_result()?;
        let items = match arguments.expect_next("a list or a range is expected")?.expect_value() {
            TryMatchToken::Matches(list) => Self::Of(list),
            TryMatchToken::Fails(token) => {
                let (first, last) = token.expect_range().into_result()?;
                Self::Between(first, last)
            }
        };
        Ok((name, items))
    }

    pub(super) fn values(&self, runtime: &dyn Runtime) -> Result<Vec<Value>> {
        match self {
            Self::Between(first, last) => between(first, last, runtime),
            Self::Of(list) => Ok(elements(list.evaluate(runtime)?.as_view())),
        }
    }
}

impl Loop {
    fn read_modifiers(&mut self, arguments: &mut TagTokenIter<'_>) -> Result<()> {
        while let Some(token) = arguments.next() {
            match token.as_str() {
                "reversed" => self.reversed = true,
                "limit" => self.limit = Some(modifier(arguments)?),
                "offset" => self.offset = Some(modifier(arguments)?),
                _ => {
                    let expected = "\"limit\", \"offset\" or \"reversed\" is expected";
                    return Err(token.raise_custom_error(expected));
                }
            }
        }
        Ok(())
    }

    fn read_body(&mut self, block: &mut TagBlock<'_, '_>, options: &Language) -> Result<()> {
        let mut body = Vec::new();
        while let Some(element) = block.next()? {
            match element {
                BlockElement::Tag(mut tag) if tag.name() == "else" => {
                    tag.tokens().expect_nothing()?;
                    self.otherwise = Some(Template::new(block.parse_all(options)?));
                    break;
                }
                BlockElement::Tag(tag) => body.push(tag.parse(block, options)?),
                element => body.push(element.parse(block, options)?),
            }
        }
        self.body = Template::new(body);
        Ok(())
    }

    fn values(&self, runtime: &dyn Runtime) -> Result<Vec<Value>> {
        let offset = number(self.offset.as_ref(), runtime)?.unwrap_or(0);
        let limit = number(self.limit.as_ref(), runtime)?.unwrap_or(usize::MAX);
        let values = self.items.values(runtime)?.into_iter();
        let mut values: Vec<Value> = values.skip(offset).take(limit).collect();
        if self.reversed {
            values.reverse();
        }
        Ok(values)
    }
}

impl Renderable for Loop {
    fn render_to(&self, writer: &mut dyn Write, runtime: &dyn Runtime) -> Result<()> {
        let values = self.values(runtime)?;
        let count = values.len();
        if let (0, Some(otherwise)) = (count, &self.otherwise) {
            return otherwise.render_to(writer, runtime);
        }
        let outer = runtime.try_get(&[Scalar::new("forloop")]).map(|found| found.into_owned());
        for (at, value) in values.into_iter().enumerate() {
            budget::spend_round(runtime)?;
            let mut names = Object::new();
            names.insert("forloop".into(), forloop(at, count, outer.clone()));
            names.insert(self.name.clone(), value);
            let round = Round { outer: runtime, names: &names };
            self.body.render_to(writer, &round)?;
            let interrupt = runtime.registers().get_mut::<InterruptRegister>().reset();
            if matches!(interrupt, Some(Interrupt::Break)) {
                break;
            }
        }
        Ok(())
    }
}

pub(super) fn modifier(arguments: &mut TagTokenIter<'_>) -> Result<Expression> {
    arguments.expect_next("\":\" is expected")?.expect_str(":").into_result()?;
    arguments.expect_next("a value is expected")?.expect_value().into_result()
}

pub(super) fn number(
    expression: Option<&Expression>,
    runtime: &dyn Runtime,
) -> Result<Option<usize>> {
    let Some(expression) = expression else { return Ok(None) };
    let number = integer(expression, runtime)?;
    Ok(Some(usize::try_from(number).unwrap_or(0)))
}

fn integer(expression: &Expression, runtime: &dyn Runtime) -> Result<i64> {
    let value = expression.evaluate(runtime)?;
    let number = value.as_scalar().and_then(|scalar| scalar.to_integer());
    number.ok_or_else(|| Error::with_msg(format!("{expression} is not a whole number")))
}

fn between(first: &Expression, last: &Expression, runtime: &dyn Runtime) -> Result<Vec<Value>> {
    let (first, last) = (integer(first, runtime)?, integer(last, runtime)?);
    if last.abs_diff(first) > ROUNDS_MAX && last > first {
        return Err(budget::too_many_rounds());
    }
    Ok((first..=last).map(Value::scalar).collect())
}

/// The elements of a list, the pairs of an object, nothing for nil, else the value itself.
fn elements(value: &dyn ValueView) -> Vec<Value> {
    if let Some(array) = value.as_array() {
        array.values().map(ValueView::to_value).collect()
    } else if let Some(object) = value.as_object() {
        let pairs = convert::members(object).into_iter();
        pairs
            .map(|(name, value)| Value::Array(vec![Value::scalar(name), value.to_value()]))
            .collect()
    } else if value.is_nil() {
        Vec::new()
    } else {
        vec![value.to_value()]
    }
}

fn forloop(at: usize, count: usize, outer: Option<Value>) -> Value {
    let number = |value: usize| Value::scalar(i64::try_from(value).unwrap_or(i64::MAX));
    let mut names = Object::new();
    names.insert("length".into(), number(count));
    names.insert("index".into(), number(at + 1));
    names.insert("index0".into(), number(at));
    names.insert("rindex".into(), number(count - at));
    names.insert("rindex0".into(), number(count - at - 1));
    names.insert("first".into(), Value::scalar(at == 0));
    names.insert("last".into(), Value::scalar(at + 1 == count));
    names.insert("parentloop".into(), outer.unwrap_or(Value::Nil));
    Value::Object(names)
}
