//! The measurements, by their names on the command line.

use std::sync::LazyLock;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use load::Scenario;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measurement {
    /// One scenario.
    One(Scenario),
    /// NATS and the database without Staunch.
    Raw,
    /// The raw bounds and every scenario.
    Suite,
}

/// Every scenario of the load generator, and the two measurements that are more than one scenario.
static ALL: LazyLock<Vec<Measurement>> = LazyLock::new(|| {
    Scenario::ALL
        .into_iter()
        .map(Measurement::One)
        .chain([Measurement::Raw, Measurement::Suite])
        .collect()
});

impl ValueEnum for Measurement {
    fn value_variants<'a>() -> &'a [Self] {
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self {
            Self::One(scenario) => (scenario.name(), scenario.what()),
            Self::Raw => ("raw", "what NATS and the database do at best, without Staunch"),
            Self::Suite => ("suite", "the raw bounds and every scenario, with their ratios"),
        };
        Some(PossibleValue::new(name).help(help))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_can_be_named() {
        for scenario in Scenario::ALL {
            assert_eq!(
                Measurement::from_str(scenario.name(), false),
                Ok(Measurement::One(scenario))
            );
        }
        assert_eq!(Measurement::from_str("suite", false), Ok(Measurement::Suite));
        assert_eq!(ALL.len(), Scenario::ALL.len() + 2);
    }
}
