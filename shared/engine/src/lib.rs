//! The pure engine: turns (definition, state, input, now) into (state, effects, journal).

mod effect;
mod evaluate;
mod input;
mod languages;
mod problem;
mod program;
mod registry;
mod state;
mod turn;

pub use effect::{Call, Dispatch, Effect, Publish, Response, Task};
pub use evaluate::{Flaw, Identity, Language, Scope};
pub use input::{Env, Input, Resume, Start};
pub use languages::Languages;
pub use problem::Problem;
pub use program::{Activation, Program};
pub use registry::Registry;
pub use state::State;
pub use turn::{Engine, Rest, Triggers, Turn};
