//! The `Forwarded` header (RFC 7239): elements between commas, each with pairs between semicolons,
//! whose values may be quoted.

/// One proxy's words: the address that it saw, and the URL that was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hop<'a> {
    pub(super) address: Option<&'a str>,
    pub(super) scheme: Option<&'a str>,
    pub(super) host: Option<&'a str>,
}

/// The elements of the header, in order.
pub(super) fn hops(text: &str) -> Result<Vec<Hop<'_>>, String> {
    split(text, ',')?.into_iter().map(hop).collect()
}

fn hop(element: &str) -> Result<Hop<'_>, String> {
    let mut hop = Hop::default();
    for pair in split(element, ';')? {
        let pair = pair.trim();
        let Some((name, value)) = pair.split_once('=') else {
            return Err(wrong(element));
        };
        let value = unquoted(value).ok_or_else(|| wrong(element))?;
        let place = match name.to_ascii_lowercase().as_str() {
            "for" => &mut hop.address,
            "proto" => &mut hop.scheme,
            "host" => &mut hop.host,
            _ => continue,
        };
        if place.replace(value).is_some() {
            return Err(format!("Forwarded has {name} twice in one element"));
        }
    }
    Ok(hop)
}

/// The parts between separators that are not quoted.
fn split(text: &str, separator: char) -> Result<Vec<&str>, String> {
    let mut parts = Vec::new();
    let (mut is_quoted, mut begins) = (false, 0);
    for (at, c) in text.char_indices() {
        if c == '"' {
            is_quoted = !is_quoted;
        } else if c == separator && !is_quoted {
            parts.push(text.get(begins..at).unwrap_or_default());
            begins = at + 1;
        }
    }
    if is_quoted {
        return Err("Forwarded has a quotation that does not end".to_owned());
    }
    parts.push(text.get(begins..).unwrap_or_default());
    Ok(parts)
}

/// The value of a pair. No address, scheme or host needs an escaped character, so one is refused.
fn unquoted(value: &str) -> Option<&str> {
    let inner = match value.strip_prefix('"') {
        Some(rest) => rest.strip_suffix('"')?,
        None => value,
    };
    (!inner.is_empty() && !inner.contains(['"', '\\', ' ', '\t'])).then_some(inner)
}

fn wrong(element: &str) -> String {
    let shown: String = element.chars().take(64).collect();
    format!("Forwarded has {shown:?}, which is not for=…;proto=…;host=…")
}
