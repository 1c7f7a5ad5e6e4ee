//! A sort over several nodes: how ranks divide the keys, watch each other, and agree.

pub(crate) mod barriers;
pub(crate) mod conflicts;
pub(crate) mod division;
pub(crate) mod failure_detector;
pub(crate) mod fingerprint;
pub(crate) mod listing;
pub(crate) mod planning;
pub(crate) mod progress;
pub(crate) mod sampling;
pub(crate) mod shares;
