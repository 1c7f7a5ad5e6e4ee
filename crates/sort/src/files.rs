//! Files of a sort: inputs, outputs, spill files, and the small texts that outlive a run.

pub(crate) mod disk_space;
pub(crate) mod input;
pub(crate) mod manifest;
pub(crate) mod output;
pub(crate) mod path_template;
pub(crate) mod spill;
pub(crate) mod temporary;
pub(crate) mod text_file;
