//! What can be measured, by the names that the command line has for it.

use clap::ValueEnum;
use load::Scenario;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum What {
    /// 3 activities, from start to finish in one burst
    Start,
    /// 10 activities, from start to finish in one burst
    Steps,
    /// 3 HTTP calls, each result durable before the next call
    Calls,
    /// Start, wait, resume, finish
    Resume,
    /// Start and wait, and stay so
    Suspend,
    /// Wait for an instant in the next second or so: how late it is
    Timer,
    /// One parent waits for 100 children
    Fanout,
    /// All resume few instances
    Contend,
    /// One HTTP call that is answered after 100 ms
    Io,
    /// A new version of a definition, in force on all nodes
    Publish,
    /// What NATS and the database do at best, without Staunch
    Raw,
    /// The raw bounds and every scenario, with their ratios
    Suite,
}

impl What {
    /// The one scenario that it is, if it is one.
    pub(super) fn scenario(self) -> Option<Scenario> {
        Some(match self {
            Self::Start => Scenario::Start,
            Self::Steps => Scenario::Steps,
            Self::Calls => Scenario::Calls,
            Self::Resume => Scenario::Resume,
            Self::Suspend => Scenario::Suspend,
            Self::Timer => Scenario::Timer,
            Self::Fanout => Scenario::Fanout,
            Self::Contend => Scenario::Contend,
            Self::Io => Scenario::Io,
            Self::Publish => Scenario::Publish,
            Self::Raw | Self::Suite => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_has_its_own_name() {
        let scenarios: Vec<_> =
            What::value_variants().iter().filter_map(|what| what.scenario()).collect();
        assert_eq!(scenarios, Scenario::ALL);
        for (what, scenario) in What::value_variants().iter().zip(scenarios) {
            assert_eq!(what.to_possible_value().unwrap().get_name(), scenario.name());
        }
    }
}
