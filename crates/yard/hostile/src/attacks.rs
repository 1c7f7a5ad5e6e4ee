//! The attacks, by kind.

use std::io;

use fastrand::Rng;

use crate::case::Case;

mod bodies;
mod checkpoints;
mod edits;
mod faults;
mod journals;
mod kills;
mod kinds;
mod manifests;
mod modes;
mod names;
mod owners;
mod shared;
mod sizes;

pub(crate) use faults::has_tracer;
pub(crate) use kills::kill;

pub(crate) type Run = fn(&mut Case) -> io::Result<()>;

/// A kind of attack: its name, its weight among all, and the attack.
pub(crate) struct Attack {
    pub name: &'static str,
    pub weight: u32,
    pub run: Run,
}

const fn attack(name: &'static str, weight: u32, run: Run) -> Attack {
    Attack { name, weight, run }
}

/// All kinds except kills, which are counted separately.
pub(crate) const ATTACKS: [Attack; 22] = [
    attack("journal-forged", 10, journals::forged),
    attack("checkpoint-altered", 24, checkpoints::altered),
    attack("checkpoint-lists", 20, checkpoints::with_lists),
    attack("checkpoint-draft", 8, bodies::draft),
    attack("checkpoint-spill", 8, bodies::spilled),
    attack("checkpoint-path", 12, checkpoints::moved_by_path),
    attack("checkpoint-copied", 6, checkpoints::copied),
    attack("checkpoint-kept", 6, checkpoints::untouched),
    attack("manifest-altered", 14, manifests::replaced),
    attack("manifest-read", 12, manifests::read),
    attack("manifest-long", 4, sizes::manifests),
    attack("kind-planted", 14, kinds::planted),
    attack("kind-given", 8, kinds::given),
    attack("kind-listed", 5, kinds::listed),
    attack("owners", 10, owners::planted),
    attack("owners-replaced", 5, shared::replaced),
    attack("owners-shared", 5, shared::planted),
    attack("modes", 12, modes::kept),
    attack("names", 6, names::odd),
    attack("faults", 16, faults::injected),
    attack("edit-stopped", 16, edits::stopped),
    attack("edit-resumed", 4, edits::resumed),
];

/// The name of a kind of attack.
///
/// # Errors
/// When there is none of that name.
pub(crate) fn kind(name: &str) -> Result<String, String> {
    if ATTACKS.iter().any(|attack| attack.name == name) {
        Ok(name.to_owned())
    } else {
        let all: Vec<&str> = ATTACKS.iter().map(|attack| attack.name).collect();
        Err(format!("name one of {}", all.join(", ")))
    }
}

/// Draws a kind; or takes the one of that name.
pub(crate) fn draw(draw: &mut Rng, only: Option<&str>) -> (&'static str, Run) {
    let all: Vec<&Attack> = ATTACKS
        .iter()
        .filter(|attack| only.is_none_or(|name| attack.name == name))
        .collect();
    let weights = all.iter().map(|attack| attack.weight).sum::<u32>();
    let mut left = draw.u32(0..weights.max(1));
    for attack in all {
        if left < attack.weight {
            return (attack.name, attack.run);
        }
        left -= attack.weight;
    }
    ("nothing", |_| Ok(()))
}
