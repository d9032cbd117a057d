//! Variables of the environment that look like settings and are none: most likely a slip.

use std::fmt;

use super::source::nearest;

const PREFIX: &str = "STAUNCH_";
/// Variables of commands, tools and tests of Staunch that are no settings.
const OTHERS: [&str; 13] = [
    "ADMIN",
    "API_FUZZ",
    "COMMIT",
    "CONFIG",
    "FAILPOINT",
    "NATS_SERVER",
    "PACKAGES",
    "PANICS",
    "PORT",
    "PREVIOUS_BINARY",
    "RAW",
    "SERVER",
    "URL",
];
/// Variables with these beginnings are of tests.
const OF_TESTS: [&str; 3] = ["CHAOS", "FUZZ_", "TEST_"];
/// Kubernetes gives every container such variables for each service, perhaps one called `staunch`.
const OF_KUBERNETES: [&str; 3] = ["SERVICE_HOST", "SERVICE_PORT", "PORT_"];
/// Variables that are named, if there are more.
const NAMED_MAX: usize = 20;

/// A variable of the environment with the prefix of settings, and no setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownVariable {
    /// Such as `STAUNCH_NATS_ULR`.
    pub name: String,
    /// The variable that may be meant.
    pub nearest: Option<String>,
}

impl fmt::Display for UnknownVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the variable {} is ignored: there is no such setting", self.name)?;
        match &self.nearest {
            Some(nearest) => write!(f, "; did you mean {nearest}?"),
            None => Ok(()),
        }
    }
}

/// Those of these names that are unknown, in order.
pub(super) fn unknown(
    variables: impl Iterator<Item = String>,
    settings: &[&'static str],
) -> Vec<UnknownVariable> {
    let is_setting = |name: &str| settings.iter().any(|known| variable(known) == name);
    let mut found: Vec<_> = variables
        .filter_map(|name| {
            let rest = name.strip_prefix(PREFIX)?;
            let is_known = is_setting(rest)
                || rest.strip_suffix("_FILE").is_some_and(is_setting)
                || OTHERS.contains(&rest)
                || OF_TESTS.iter().any(|start| rest.starts_with(start))
                || OF_KUBERNETES.iter().any(|part| rest.contains(part))
                // The passwords of the users of nats/server.conf.
                || (rest.starts_with("NATS_") && rest.ends_with("_PASSWORD"));
            if is_known {
                return None;
            }
            let nearest = match rest.strip_suffix("_FILE") {
                Some(rest) => {
                    nearest(rest, settings).map(|near| format!("{}_FILE", variable(near)))
                }
                None => nearest(rest, settings).map(variable),
            };
            let nearest = nearest.map(|rest| format!("{PREFIX}{rest}"));
            Some(UnknownVariable { name, nearest })
        })
        .collect();
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found.truncate(NAMED_MAX);
    found
}

/// The name of a setting as a variable, without the prefix.
fn variable(name: &str) -> String {
    name.replace('-', "_").to_uppercase()
}

#[cfg(test)]
mod tests {
    use super::super::settings::NAMES;
    use super::*;

    #[test]
    fn a_slip_in_the_name_of_a_variable_is_found_and_other_variables_are_left_alone() {
        let known = [
            "PATH",
            "STAUNCH_NATS_URL",
            "STAUNCH_NATS_URL_FILE",
            "STAUNCH_API_KEY",
            "STAUNCH_SERVER",
            "STAUNCH_CONFIG",
            "STAUNCH_TEST_REQUIRE",
            "STAUNCH_NATS_WORKER_CHARGE_CARD_PASSWORD",
            "STAUNCH_SERVICE_HOST",
            "STAUNCH_PORT_5001_TCP_ADDR",
            "STAUNCH_PORT",
        ];
        let wrong = [
            ("STAUNCH_DATABSE_URL_FILE", Some("STAUNCH_DATABASE_URL_FILE")),
            ("STAUNCH_NATS_ULR", Some("STAUNCH_NATS_URL")),
            ("STAUNCH_WHATEVER_IT_MAY_BE", None),
        ];
        let all = known.into_iter().chain(wrong.map(|(name, _)| name)).map(str::to_owned);
        let found = unknown(all, NAMES);
        let found: Vec<_> =
            found.iter().map(|one| (one.name.as_str(), one.nearest.as_deref())).collect();
        assert_eq!(found, wrong);
        let one = UnknownVariable { name: "A".to_owned(), nearest: Some("B".to_owned()) };
        assert!(one.to_string().ends_with("no such setting; did you mean B?"), "{one}");
    }
}
