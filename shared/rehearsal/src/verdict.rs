//! Plays a test, and says what came of it.

use engine::{Installation, Problem};
use model::{Entry, Map};

use crate::check;
use crate::limits::Limits;
use crate::play::{Player, Stage};
use crate::stop::Stop;
use crate::suite::{Run, Test};

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
        let verdict = self.run.played(stage, installation, limits, |player, end| {
            let differences = match end {
                Ok(()) => check::differences(&self.expect, &player),
                Err(stop) => vec![stop.message],
            };
            Verdict { differences, journal: player.journal }
        });
        verdict.unwrap_or_else(|problems| Verdict {
            differences: of_pins(&problems),
            journal: Vec::new(),
        })
    }
}

impl Run {
    /// Plays it as a test is played, and returns what a test has to expect to pass: the status, and where
    /// the run has them, outputs, lines, waiting activities and the newest incident.
    ///
    /// # Errors
    /// What kept the run from its end.
    pub fn observed(
        &self,
        stage: Stage<'_>,
        installation: &Installation,
        limits: Limits<'_>,
    ) -> Result<Map, Vec<String>> {
        let observed = self.played(stage, installation, limits, |player, end| match end {
            Ok(()) => Ok(check::observed(&player)),
            Err(stop) => Err(vec![stop.message]),
        });
        observed.unwrap_or_else(|problems| Err(of_pins(&problems)))
    }

    /// Plays it with the same chance as every test, and looks at what came of it.
    fn played<T>(
        &self,
        stage: Stage<'_>,
        installation: &Installation,
        limits: Limits<'_>,
        look: impl FnOnce(Player<'_>, Result<(), Stop>) -> T,
    ) -> Result<T, Vec<Problem>> {
        let pinned = stage.program.pinned(&self.pins)?;
        let stage = Stage { program: &pinned, ..stage };
        let env = self.env(installation.clone(), [7; 32], "test");
        let mut player = Player::new(stage, &self.mocks, env).within(limits);
        let end = player.play(&self.given);
        Ok(look(player, end))
    }
}

fn of_pins(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(|problem| format!("pins: {problem}")).collect()
}
