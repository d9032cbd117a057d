//! ReadCsv: reads the records of a CSV text.

use std::collections::BTreeMap;

use csv::{ReaderBuilder, StringRecord, Trim};
use engine::{Activity, Decision, Descriptor, Failure, Kind, Next, Plan, Planning, Step, Type};
use model::{Map, limits};
use serde_json::Value;

use crate::called::content;

/// `Elsa.ReadCsv`
pub(crate) struct ReadCsv;

impl Activity for ReadCsv {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("Elsa.ReadCsv", "CSV", "Reads the records of a CSV text.")
            .called("Read CSV")
            .kind(Kind::Task)
            .input("csvData", Type::Object, "The text, or a file.")
            .input("hasHeaderRecord", Type::Boolean, "The first record names the columns.")
            .default(true)
            .input("recordType", Type::String, "Not used; kept for exports.")
            .input("delimiter", Type::String, "The character between two fields.")
            .default(",")
            .output("records", Type::List(Box::new(Type::Object)), "Each an object by column.")
            .outcomes(&["Done"])
    }

    fn plan(&self, node: &mut Planning<'_>) -> Plan {
        node.warn_of_unused("recordType", "a record is an object of texts");
        None
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let data = step.value("csvData")?;
        let data = content("csvData", &step.loaded("csvData", data)?)?.bytes;
        let delimiter = step.text("delimiter")?.unwrap_or_else(|| ",".to_owned());
        let delimiter = match delimiter.as_bytes() {
            b"\\t" => b'\t',
            [one] => *one,
            _ => return Err(Failure::input("delimiter", "must be one ASCII character, or \\t")),
        };
        let records = records(&data, delimiter, step.flag("hasHeaderRecord")?)?;
        step.set_output("records", Value::Array(records))?;
        Ok(Next::done())
    }
}

/// The records, with columns named by the first one, or `Field1`, `Field2` ….
fn records(data: &[u8], delimiter: u8, has_header: bool) -> Result<Vec<Value>, Failure> {
    let data = data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data);
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(has_header)
        .trim(Trim::Headers)
        .from_reader(data);
    let malformed = |error: csv::Error| Failure::new("CsvMalformed", format!("csvData: {error}"));
    let headers = match has_header {
        true => reader.headers().map_err(malformed)?.clone(),
        false => StringRecord::new(),
    };
    let name = |column: usize| match headers.get(column) {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => format!("Field{}", column + 1),
    };
    check_names((0..headers.len()).map(name))?;
    let mut found = Vec::new();
    for record in reader.records() {
        if found.len() == limits::CSV_RECORDS_MAX {
            let message = format!(
                "csvData: there are more than {} records: split the text",
                limits::CSV_RECORDS_MAX
            );
            return Err(Failure::new("CsvTooLarge", message));
        }
        let record = record.map_err(malformed)?;
        let fields = record.iter().enumerate();
        let map: Map = fields.map(|(column, field)| (name(column), field.into())).collect();
        found.push(Value::Object(map));
    }
    Ok(found)
}

/// Refuses two columns of one name: a record would lose the value of one of them.
fn check_names(names: impl Iterator<Item = String>) -> Result<(), Failure> {
    let mut columns = BTreeMap::new();
    for (name, column) in names.zip(1..) {
        if let Some(first) = columns.insert(name.clone(), column) {
            let message = format!(
                "csvData: the columns {first} and {column} are both named {name:?}: rename one, or \
                 read the text without a header (hasHeaderRecord)"
            );
            return Err(Failure::new("CsvMalformed", message));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tests::{oversights, player, warnings};

    #[test]
    fn records_are_objects_by_column() {
        let read = |text: &str, delimiter, header| records(text.as_bytes(), delimiter, header);
        let check = |text: &str, delimiter, header, expected: Value| {
            assert_eq!(Value::Array(read(text, delimiter, header).unwrap()), expected, "{text}");
        };
        check("a, b\n1,\"x, y\"\n", b',', true, json!([{"a": "1", "b": "x, y"}]));
        check(
            "1;2\n3;4",
            b';',
            false,
            json!([{"Field1": "1", "Field2": "2"}, {"Field1": "3", "Field2": "4"}]),
        );
        check("\u{feff}a\né\n", b',', true, json!([{"a": "é"}]));
        check("", b',', true, json!([]));
        assert_eq!(read("a,b\n1\n", b',', true).unwrap_err().code, "CsvMalformed");
        assert_eq!(records(b"a\n\xff\n", b',', true).unwrap_err().code, "CsvMalformed");
        let long = "x\n".repeat(limits::CSV_RECORDS_MAX + 1);
        assert_eq!(read(&long, b',', false).unwrap_err().code, "CsvTooLarge");
    }

    #[test]
    fn two_columns_of_one_name_are_refused() {
        let check = |text: &str, said: &str| {
            let failure = records(text.as_bytes(), b',', true).unwrap_err();
            assert_eq!(failure.code, "CsvMalformed", "{text}");
            assert!(failure.message.contains(said), "{}", failure.message);
        };
        check("id,name, id\n1,a,2", "the columns 1 and 3 are both named \"id\"");
        check("Field2,\n1,2", "the columns 1 and 2 are both named \"Field2\"");
        assert!(records(b"id,ID\n1,2", b',', true).is_ok(), "names have their case");
        assert!(records(b"id,id\n1,2", b',', false).is_ok(), "no header");
    }

    #[test]
    fn text_and_files_are_read() {
        for data in [json!("a\n1"), json!({"fileName": "x.csv", "content": "YQox"})] {
            let data = match data {
                Value::String(_) => data,
                file => json!({"expression": {"type": "Object", "value": file}}),
            };
            let mut player = player(json!({
                "outputs": [{"name": "Got"}],
                "root": {"type": "Elsa.ReadCsv", "csvData": data, "records": "Got"}
            }));
            player.start(json!({}));
            assert_eq!(player.state().output["Got"], json!([{"a": "1"}]));
        }
    }

    #[test]
    fn a_type_of_records_has_no_effect_and_publishing_says_so() {
        let node = |ty: Value| json!({"type": "ReadCsv", "csvData": "a", "recordType": ty});
        assert_eq!(oversights(node(json!("Acme.Order"))), [""; 0]);
        let found = warnings(node(json!("Acme.Order")));
        let expected = "recordType: has no effect: a record is an object of texts";
        assert!(found.len() == 1 && found[0].ends_with(expected), "{found:?}");
        for nothing in [Value::Null, json!("")] {
            assert_eq!(warnings(node(nothing.clone())), [""; 0], "{nothing}");
        }
    }
}
