//! Routes of HTTP endpoints, compared by the requests that they match.

/// The shape of a route template: two templates with the same shape match the same paths, whatever
/// the names of their parameters. `orders/{id}` and `Orders/{number?}` have the same shape;
/// `orders/{id:int}` has another, and comes before both.
#[must_use]
pub fn route_shape(template: &str) -> String {
    let lower = template.trim_matches('/').to_lowercase();
    let parts = lower.split('/').filter(|part| !part.is_empty()).map(part_shape);
    parts.collect::<Vec<_>>().join("/")
}

/// A part that is not a template is taken literally.
fn part_shape(part: &str) -> String {
    let Some((before, rest)) = part.split_once('{') else { return part.to_owned() };
    let Some((inner, after)) = rest.split_once('}') else { return part.to_owned() };
    if after.contains('{') || inner.contains('{') {
        return part.to_owned();
    }
    if inner.starts_with('*') {
        return "{**}".to_owned();
    }
    let inner = inner.split('=').next().unwrap_or_default();
    let inner = inner.strip_suffix('?').unwrap_or(inner);
    let (name, constraint) = inner.split_once(':').unwrap_or((inner, ""));
    if name.is_empty() {
        return part.to_owned();
    }
    let kind = match constraint {
        "int" | "long" => ":int",
        "decimal" | "double" | "float" => ":double",
        "bool" => ":bool",
        "guid" => ":guid",
        "alpha" => ":alpha",
        _ => "",
    };
    format!("{before}{{{kind}}}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_defaults_make_no_difference() {
        for (left, right, are_same) in [
            ("orders/{id}", "/Orders/{number}/", true),
            ("orders/{id}", "orders/{id?}", true),
            ("orders/{id}", "orders/{id=7}", true),
            ("orders/{id:int}", "orders/{n:long}", true),
            ("files/{*rest}", "files/{**all}", true),
            ("report-{year}.pdf", "report-{y}.pdf", true),
            ("orders/{id}", "orders/{id:int}", false),
            ("orders/{id}", "orders/{*id}", false),
            ("orders/{id}", "orders/new", false),
            ("report-{year}.pdf", "report-{year}.txt", false),
            ("a/{", "a/{x}", false),
        ] {
            assert_eq!(route_shape(left) == route_shape(right), are_same, "{left} {right}");
        }
    }
}
