//! `{% tablerow item in items cols:2 %}…{% endtablerow %}`: rows and cells of an HTML table, bounded.

use std::io::Write;

use liquid_core::model::KString;
use liquid_core::{
    BlockReflection, Error, Expression, Language, Object, ParseBlock, Renderable, Result, Runtime,
    TagBlock, TagTokenIter, Template, Value,
};

use super::budget;
use super::for_block::{Items, modifier, number};
use super::lookup::Round;

/// The parser of the block.
#[derive(Clone, Debug)]
pub(super) struct TableRow;

impl BlockReflection for TableRow {
    fn start_tag(&self) -> &str {
        "tablerow"
    }

    fn end_tag(&self) -> &str {
        "endtablerow"
    }

    fn description(&self) -> &str {
        "Renders its body into the cells of a table."
    }
}

impl ParseBlock for TableRow {
    fn parse(
        &self,
        mut arguments: TagTokenIter<'_>,
        mut block: TagBlock<'_, '_>,
        options: &Language,
    ) -> Result<Box<dyn Renderable>> {
        let (name, items) = Items::read(&mut arguments)?;
        let (mut cols, mut limit, mut offset) = (None, None, None);
        while let Some(token) = arguments.next() {
            match token.as_str() {
                "cols" => cols = Some(modifier(&mut arguments)?),
                "limit" => limit = Some(modifier(&mut arguments)?),
                "offset" => offset = Some(modifier(&mut arguments)?),
                _ => {
                    let expected = "\"cols\", \"limit\" or \"offset\" is expected";
                    return Err(token.raise_custom_error(expected));
                }
            }
        }
        let body = Template::new(block.parse_all(options)?);
        block.assert_empty();
        Ok(Box::new(Table { name, items, cols, limit, offset, body }))
    }

    fn reflection(&self) -> &dyn BlockReflection {
        self
    }
}

#[derive(Debug)]
struct Table {
    name: KString,
    items: Items,
    cols: Option<Expression>,
    limit: Option<Expression>,
    offset: Option<Expression>,
    body: Template,
}

impl Renderable for Table {
    fn render_to(&self, writer: &mut dyn Write, runtime: &dyn Runtime) -> Result<()> {
        let offset = number(self.offset.as_ref(), runtime)?.unwrap_or(0);
        let limit = number(self.limit.as_ref(), runtime)?.unwrap_or(usize::MAX);
        let values = self.items.values(runtime)?.into_iter().skip(offset).take(limit);
        let values: Vec<Value> = values.collect();
        let count = values.len();
        let cols = number(self.cols.as_ref(), runtime)?.unwrap_or(count).max(1);
        for (at, value) in values.into_iter().enumerate() {
            budget::spend_round(runtime)?;
            let (row, col) = (at / cols, at % cols);
            if col == 0 {
                write(writer, &format!("<tr class=\"row{}\">", row + 1))?;
            }
            write(writer, &format!("<td class=\"col{}\">", col + 1))?;
            let mut names = Object::new();
            names.insert("tablerowloop".into(), position(at, count, cols));
            names.insert(self.name.clone(), value);
            self.body.render_to(writer, &Round { outer: runtime, names: &names })?;
            write(writer, "</td>")?;
            if col + 1 == cols || at + 1 == count {
                write(writer, "</tr>")?;
            }
        }
        Ok(())
    }
}

fn write(writer: &mut dyn Write, text: &str) -> Result<()> {
    let written = writer.write_all(text.as_bytes());
    written.map_err(|error| Error::with_msg(format!("the table cannot be written: {error}")))
}

fn position(at: usize, count: usize, cols: usize) -> Value {
    let number = |value: usize| Value::scalar(i64::try_from(value).unwrap_or(i64::MAX));
    let mut names = Object::new();
    names.insert("length".into(), number(count));
    names.insert("index".into(), number(at + 1));
    names.insert("index0".into(), number(at));
    names.insert("rindex".into(), number(count - at));
    names.insert("rindex0".into(), number(count - at - 1));
    names.insert("row".into(), number(at / cols + 1));
    names.insert("col".into(), number(at % cols + 1));
    names.insert("col0".into(), number(at % cols));
    names.insert("first".into(), Value::scalar(at == 0));
    names.insert("last".into(), Value::scalar(at + 1 == count));
    names.insert("col_first".into(), Value::scalar(at.is_multiple_of(cols)));
    names.insert("col_last".into(), Value::scalar(at % cols + 1 == cols || at + 1 == count));
    Value::Object(names)
}
