//! The traces that are sent: all of them, or those that the variables of OpenTelemetry choose. Its SDK
//! reads these variables before there is a log, in which it could say what is wrong with them.

/// The samplers that need no more.
const SAMPLERS: [&str; 4] =
    ["always_on", "always_off", "parentbased_always_on", "parentbased_always_off"];
/// The samplers that need a ratio.
const OF_A_RATIO: [&str; 2] = ["traceidratio", "parentbased_traceidratio"];

/// What is wrong with the variables of this process.
#[expect(clippy::disallowed_methods, reason = "these variables are those of another program")]
pub(super) fn flaw() -> Option<String> {
    let of = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    flaw_in(of("OTEL_TRACES_SAMPLER").as_deref(), of("OTEL_TRACES_SAMPLER_ARG").as_deref())
}

fn flaw_in(sampler: Option<&str>, ratio: Option<&str>) -> Option<String> {
    let sampler = sampler?;
    if SAMPLERS.contains(&sampler) {
        return None;
    }
    if !OF_A_RATIO.contains(&sampler) {
        let known = [&SAMPLERS[..], &OF_A_RATIO[..]].concat().join(", ");
        return Some(format!(
            "OTEL_TRACES_SAMPLER={sampler} is not known, and all traces are sent: use one of {known}"
        ));
    }
    let number = ratio.and_then(|ratio| ratio.parse::<f64>().ok());
    if number.is_some_and(|number| (0.0..=1.0).contains(&number)) {
        return None;
    }
    let sent = match number {
        Some(number) if number.is_nan() || number < 0.0 => "no trace is sent",
        _ => "all traces are sent",
    };
    let found = match ratio {
        Some(ratio) => format!("OTEL_TRACES_SAMPLER_ARG={ratio} is no number from 0 to 1"),
        None => "OTEL_TRACES_SAMPLER_ARG is not set".to_owned(),
    };
    Some(format!("{found}, and {sent}: write the part that {sampler} is to choose, such as 0.1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sampler_that_is_not_known_is_named() {
        let said = flaw_in(Some("bogus"), None).unwrap();
        let begins = "OTEL_TRACES_SAMPLER=bogus is not known, and all traces are sent: use one of \
                      always_on, always_off, ";
        assert!(said.starts_with(begins), "{said}");
        assert!(said.ends_with("parentbased_traceidratio"), "{said}");
        for sampler in SAMPLERS {
            assert_eq!(flaw_in(Some(sampler), Some("x")), None);
        }
        assert_eq!(flaw_in(None, Some("x")), None);
    }

    #[test]
    fn a_ratio_is_a_number_from_0_to_1() {
        for sampler in OF_A_RATIO {
            for ratio in ["0", "0.1", "1.0"] {
                assert_eq!(flaw_in(Some(sampler), Some(ratio)), None);
            }
            let said = |ratio| flaw_in(Some(sampler), ratio).unwrap();
            assert!(said(None).starts_with("OTEL_TRACES_SAMPLER_ARG is not set, and all traces"));
            for (ratio, sent) in [("10%", "all"), ("2", "all"), ("-1", "no"), ("NaN", "no")] {
                let begins = format!(
                    "OTEL_TRACES_SAMPLER_ARG={ratio} is no number from 0 to 1, and {sent} "
                );
                assert!(said(Some(ratio)).starts_with(&begins), "{}", said(Some(ratio)));
            }
        }
    }
}
