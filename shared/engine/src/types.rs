//! The types that inputs and variables are converted to.

mod known;

use serde::{Serialize, Serializer};

/// A target type. Values stay JSON; the type determines their form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// Anything, as it is.
    Object,
    /// Anything; a text that is a JSON object or list is read.
    Json,
    /// Text.
    String,
    /// True or false.
    Boolean,
    /// A whole number of at most this many bits, signed: 8, 16, 32 or 64.
    Integer(u8),
    /// A whole number of at most this many bits that is not negative: 8, 16, 32 or 64.
    Unsigned(u8),
    /// A number.
    Double,
    /// A duration, as `[d.]hh:mm:ss[.fffffff]`.
    TimeSpan,
    /// An instant, as RFC 3339 text.
    DateTime,
    /// A text of this form.
    Text(Form),
    /// A list of these.
    List(Box<Type>),
    /// A JSON object.
    Dictionary,
    /// A JSON object of texts.
    TextDictionary,
    /// One of these words.
    Enum(&'static [&'static str]),
    /// An HTTP status code, as a number; names such as `OK` are understood.
    StatusCode,
    /// The source text of a script in this language: not evaluated when it is read as an input.
    Script(&'static str),
}

/// The form of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Eight, four, four, four and twelve hexadecimal digits.
    Guid,
    /// An address, absolute or relative.
    Uri,
    /// A day, as `2026-01-31`.
    DateOnly,
    /// A time of the day, as `08:30:00`.
    TimeOnly,
    /// Bytes in base64.
    ByteArray,
    /// One character.
    Char,
}

impl Type {
    /// A list of text.
    #[must_use]
    pub fn texts() -> Self {
        Self::List(Box::new(Self::String))
    }

    /// The type of an alias of Elsa's; `Object` for an unknown one.
    ///
    /// Understands `X?`, `X[]`, `List<X>` and similar, C# keywords, and .NET names with namespace
    /// and assembly.
    #[must_use]
    pub fn from_alias(alias: &str, is_array: bool) -> Self {
        let element = Self::of_name(alias.trim(), 0);
        if is_array { Self::list_of(element) } else { element }
    }

    /// Whether [`Type::from_alias`] understands the alias: one of Elsa's, a C# keyword, a list or
    /// dictionary, or a type of .NET or Elsa by its full name.
    #[must_use]
    pub fn is_known(alias: &str) -> bool {
        let name = alias.trim();
        let name = name.strip_suffix('?').unwrap_or(name);
        if let Some(element) = name.strip_suffix("[]") {
            return Self::is_known(element);
        }
        let outer = name.split(['<', '`']).next().unwrap_or(name);
        let namespace = outer.split('.').next().unwrap_or(outer);
        let is_qualified = outer.contains('.')
            && ["System", "Microsoft", "Elsa", "Newtonsoft"].contains(&namespace);
        is_qualified || known::NAMES.contains(&short(outer).to_lowercase().as_str())
    }

    /// The alias, as descriptors show it.
    #[must_use]
    pub fn alias(&self) -> String {
        match self {
            Self::Object | Self::Json => "Object".to_owned(),
            Self::String | Self::Script(_) | Self::Enum(_) => "String".to_owned(),
            Self::Boolean => "Boolean".to_owned(),
            Self::Integer(8) => "SByte".to_owned(),
            Self::Integer(bits) => format!("Int{bits}"),
            Self::Unsigned(8) => "Byte".to_owned(),
            Self::Unsigned(bits) => format!("UInt{bits}"),
            Self::Double => "Double".to_owned(),
            Self::TimeSpan => "TimeSpan".to_owned(),
            Self::DateTime => "DateTimeOffset".to_owned(),
            Self::Text(form) => format!("{form:?}"),
            Self::List(element) => format!("{}[]", element.alias()),
            Self::Dictionary => "ObjectDictionary".to_owned(),
            Self::TextDictionary => "StringDictionary".to_owned(),
            Self::StatusCode => "HttpStatusCode".to_owned(),
        }
    }

    fn of_name(name: &str, depth: usize) -> Self {
        const WRAPPERS: [&str; 9] = [
            "List",
            "IList",
            "ICollection",
            "IEnumerable",
            "IReadOnlyCollection",
            "IReadOnlyList",
            "ISet",
            "HashSet",
            "Collection",
        ];
        const DICTIONARIES: [&str; 3] = ["Dictionary", "IDictionary", "IReadOnlyDictionary"];
        const NESTING_MAX: usize = 8;
        let name = name.strip_suffix('?').unwrap_or(name);
        if depth > NESTING_MAX {
            return Self::Object;
        }
        if let Some(element) = name.strip_suffix("[]") {
            return Self::list_of(Self::of_name(element, depth + 1));
        }
        if let Some((wrapper, rest)) = name.split_once('<')
            && let Some(arguments) = rest.strip_suffix('>')
        {
            let wrapper = short(wrapper);
            if WRAPPERS.contains(&wrapper.as_str()) {
                return Self::List(Box::new(Self::of_name(arguments, depth + 1)));
            }
            if DICTIONARIES.contains(&wrapper.as_str())
                && let Some((_, values)) = arguments.split_once(',')
            {
                return match Self::of_name(values.trim(), depth + 1) {
                    Self::String => Self::TextDictionary,
                    _ => Self::Dictionary,
                };
            }
        }
        Self::of_simple(&short(name).to_lowercase())
    }

    /// An array of these; one of bytes is a text, as in all JSON of .NET.
    fn list_of(element: Self) -> Self {
        match element {
            Self::Unsigned(8) => Self::Text(Form::ByteArray),
            element => Self::List(Box::new(element)),
        }
    }

    fn of_simple(name: &str) -> Self {
        match name {
            "sbyte" => Self::Integer(8),
            "byte" => Self::Unsigned(8),
            "uint16" | "ushort" => Self::Unsigned(16),
            "uint32" | "uint" => Self::Unsigned(32),
            "uint64" | "ulong" => Self::Unsigned(64),
            "string" => Self::String,
            "boolean" | "bool" => Self::Boolean,
            "int16" | "short" => Self::Integer(16),
            "int32" | "int" => Self::Integer(32),
            "int64" | "long" => Self::Integer(64),
            "single" | "float" | "double" | "decimal" => Self::Double,
            "timespan" => Self::TimeSpan,
            "datetime" | "datetimeoffset" => Self::DateTime,
            "guid" => Self::Text(Form::Guid),
            "uri" => Self::Text(Form::Uri),
            "dateonly" => Self::Text(Form::DateOnly),
            "timeonly" => Self::Text(Form::TimeOnly),
            "bytearray" => Self::Text(Form::ByteArray),
            "char" => Self::Text(Form::Char),
            "stringdictionary" | "stringmap" => Self::TextDictionary,
            "objectdictionary" | "objectmap" => Self::Dictionary,
            "jsonobject" | "jobject" | "httpheaders" => Self::Dictionary,
            "json" | "expandoobject" | "jsonelement" | "jsonnode" | "jsondocument" | "jtoken" => {
                Self::Json
            }
            "jsonarray" | "jarray" => Self::List(Box::new(Self::Object)),
            _ => Self::Object,
        }
    }
}

impl Serialize for Type {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.alias())
    }
}

/// The last part of a .NET name: no assembly, no namespace.
fn short(name: &str) -> String {
    let name = name.split(',').next().unwrap_or(name).trim();
    name.rsplit(['.', '+']).next().unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_of_every_generation_are_understood() {
        let check = |alias: &str, expected: Type| {
            assert_eq!(Type::from_alias(alias, false), expected, "{alias}");
        };
        check("Int32", Type::Integer(32));
        check("int?", Type::Integer(32));
        check("System.Int64, System.Private.CoreLib", Type::Integer(64));
        check("String[]", Type::texts());
        check("List<String>", Type::texts());
        check("System.Collections.Generic.IEnumerable<System.String>", Type::texts());
        check("DateTimeOffset", Type::DateTime);
        check("JsonArray", Type::List(Box::new(Type::Object)));
        check("ExecuteWorkflowResult", Type::Object);
        check("JSON", Type::Json);
        check("System.Text.Json.Nodes.JsonNode, System.Text.Json", Type::Json);
        check("Elsa.Http.HttpHeaders, Elsa.Http", Type::Dictionary);
        check("IDictionary<String, Object>", Type::Dictionary);
        check("Dictionary<System.String, System.String>", Type::TextDictionary);
        check("Byte[]", Type::Text(Form::ByteArray));
        assert_eq!(Type::from_alias("Byte", true), Type::Text(Form::ByteArray));
        assert_eq!(Type::from_alias("Boolean", true), Type::List(Box::new(Type::Boolean)));
    }

    #[test]
    fn other_names_are_not_known() {
        for alias in [
            "Int32",
            "int?",
            "decimal",
            "ExecuteWorkflowResult",
            "IDictionary<String, Object>",
            "System.Collections.Generic.List`1[[System.String, System.Private.CoreLib]]",
            "Elsa.Http.HttpHeaders, Elsa.Http",
            "HttpFile[]",
            "IEnumerable<FormFile>",
            "JSON",
            "",
        ] {
            assert!(Type::is_known(alias), "{alias}");
        }
        for alias in
            ["Bogus.Type", "Bogus", "Systematic.Type", "Bogus.String2[]", "Acme.Order, Acme"]
        {
            assert!(!Type::is_known(alias), "{alias}");
        }
    }
}
