//! Filters that encode, hash and shorten texts.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE, URL_SAFE_NO_PAD};
use liquid_core::{Error, Result, Runtime, Value, ValueCow, ValueView};
use md5::Md5;
use sha1::Sha1;
use sha2::digest::Digest;
use sha2::{Sha256, Sha512};

use crate::liquid::filter::Own;

pub(super) const ALL: [Own; 14] = [
    one("base64_encode", "The text in base64.", |input, _, _| {
        Ok(Value::scalar(STANDARD.encode(input.to_kstr().as_bytes())))
    }),
    one("base64_decode", "The text that base64 stands for.", |input, _, _| {
        decoded(STANDARD.decode(input.to_kstr().as_bytes()))
    }),
    one("base64_url_safe_encode", "The text in base64 for URLs.", |input, _, _| {
        Ok(Value::scalar(URL_SAFE.encode(input.to_kstr().as_bytes())))
    }),
    one("base64_url_safe_decode", "The text that base64 for URLs stands for.", |input, _, _| {
        let text = input.to_kstr();
        decoded(URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')))
    }),
    one("md5", "The MD5 of the text in hexadecimal.", |input, _, _| hashed::<Md5>(input)),
    one("sha1", "The SHA-1 of the text in hexadecimal.", |input, _, _| hashed::<Sha1>(input)),
    one("sha256", "The SHA-256 of the text in hexadecimal.", |input, _, _| hashed::<Sha256>(input)),
    one("sha512", "The SHA-512 of the text in hexadecimal.", |input, _, _| hashed::<Sha512>(input)),
    one("handle", "The text as a part of a URL.", handle),
    one("handleize", "The text as a part of a URL.", handle),
    one("raw", "The value as it is: nothing is escaped.", |input, _, _| Ok(input.to_value())),
    two("remove_last", "Without the last occurrence.", |input, given, _| {
        last_replaced(input, given.first(), None)
    }),
    two("replace_last", "With the last occurrence replaced.", |input, given, _| {
        last_replaced(input, given.first(), given.get(1))
    }),
    one("base64", "The text in base64.", |input, _, _| {
        Ok(Value::scalar(STANDARD.encode(input.to_kstr().as_bytes())))
    }),
];

const fn one(
    name: &'static str,
    description: &'static str,
    run: crate::liquid::filter::Run,
) -> Own {
    Own { name, description, arguments_max: 0, run }
}

const fn two(
    name: &'static str,
    description: &'static str,
    run: crate::liquid::filter::Run,
) -> Own {
    Own { name, description, arguments_max: 2, run }
}

fn decoded(bytes: std::result::Result<Vec<u8>, base64::DecodeError>) -> Result<Value> {
    let bytes = bytes.map_err(|error| Error::with_msg(format!("this is not base64: {error}")))?;
    let text = String::from_utf8(bytes)
        .map_err(|error| Error::with_msg(format!("this is not base64 of a text: {error}")))?;
    Ok(Value::scalar(text))
}

fn hashed<D: Digest>(input: &dyn ValueView) -> Result<Value> {
    let hash = D::digest(input.to_kstr().as_bytes());
    let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Value::scalar(hex))
}

/// Small letters and digits, with a `-` in place of everything between them.
fn handle(input: &dyn ValueView, _: &[ValueCow<'_>], _: &dyn Runtime) -> Result<Value> {
    let text = input.to_kstr().to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    Ok(Value::scalar(words.collect::<Vec<_>>().join("-")))
}

fn last_replaced(
    input: &dyn ValueView,
    search: Option<&ValueCow<'_>>,
    by: Option<&ValueCow<'_>>,
) -> Result<Value> {
    let text = input.to_kstr();
    let search = search.map(|search| search.to_kstr().into_string()).unwrap_or_default();
    let by = by.map(|by| by.to_kstr().into_string()).unwrap_or_default();
    Ok(match text.rsplit_once(search.as_str()) {
        Some((before, after)) if !search.is_empty() => {
            Value::scalar(format!("{before}{by}{after}"))
        }
        _ => Value::scalar(text.into_string()),
    })
}
