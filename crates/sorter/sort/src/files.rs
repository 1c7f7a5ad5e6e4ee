//! Files of a sort: inputs, outputs, spill files, and small text files that outlive a run.

pub(crate) mod bad_rows;
pub(crate) mod belief;
pub(crate) mod disk_space;
pub(crate) mod input;
pub(crate) mod journal;
pub(crate) mod manifest;
pub(crate) mod output;
pub(crate) mod path_template;
pub(crate) mod spill;
pub(crate) mod sweep;
pub(crate) mod temporary;
pub(crate) mod text_file;

/// Files that a sort opens beside its inputs and a set of outputs: an output, its directory, rows set
/// aside, two spill files, a journal, and what is open for a moment.
const BESIDE: usize = 8;

/// Files that may be opened for inputs or a set of outputs.
pub(crate) fn spare(node: &node::Node) -> usize {
    node.spare_files().saturating_sub(BESIDE)
}

#[cfg(test)]
pub(crate) fn run_here<T, Task>(program: impl Fn(node::Node) -> Task + Clone + Send + 'static) -> T
where
    T: Send + 'static,
    Task: Future<Output = T> + 'static,
{
    let mut answers = node_real::Cluster::new(1, 1).run(program);
    answers.pop().expect("one node")
}

/// Whether tests may give files to other users; prints a note where they may not.
#[cfg(test)]
pub(crate) fn may_give(owner: u32) -> bool {
    use std::io::Write;
    let file = tempfile::NamedTempFile::new().unwrap();
    let given = std::os::unix::fs::chown(file.path(), Some(owner), None);
    if given.is_err() {
        // Past the test runner's capture: a skip is never silent.
        let _ = writeln!(std::io::stderr(), "skipped: only root gives files away");
    }
    given.is_ok()
}
