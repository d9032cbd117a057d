//! Plays a test, and says what came of it.

use engine::Installation;
use model::Entry;

use crate::check;
use crate::limits::Limits;
use crate::play::{Player, Stage};
use crate::suite::Test;

/// What came of a test.
#[derive(Debug)]
pub struct Verdict {
    /// The difference of each expectation that was not met, or what kept the test from its end.
    pub differences: Vec<String>,
    /// What the activities did.
    pub journal: Vec<Entry>,
}

impl Test {
    /// Plays the test, and compares what happened with what is expected.
    #[must_use]
    pub fn run(
        &self,
        stage: Stage<'_>,
        installation: &Installation,
        limits: Limits<'_>,
    ) -> Verdict {
        let pinned = match stage.program.pinned(&self.run.pins) {
            Ok(pinned) => pinned,
            Err(problems) => {
                let differences = problems.iter().map(|problem| format!("pins: {problem}"));
                return Verdict { differences: differences.collect(), journal: Vec::new() };
            }
        };
        let stage = Stage { program: &pinned, ..stage };
        let env = self.run.env(installation.clone(), [7; 32], "test");
        let mut player = Player::new(stage, &self.run.mocks, env).within(limits);
        let differences = match player.play(&self.run.given) {
            Ok(()) => check::differences(&self.expect, &player),
            Err(stop) => vec![stop.message],
        };
        Verdict { differences, journal: player.journal }
    }
}
