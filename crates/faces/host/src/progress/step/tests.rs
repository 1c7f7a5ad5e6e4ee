use super::*;

fn at(phase: &'static str, total_bytes: u64, done: [u64; 2]) -> Progress {
    let stages = ["reader", "writer"].into_iter().zip(done).collect();
    Progress {
        phase,
        total_bytes,
        stages,
    }
}

fn told<const N: usize>(all: [Progress; N]) -> BTreeMap<Rank, Progress> {
    (0..).map(Rank).zip(all).collect()
}

#[test]
fn ranks_are_added_up() {
    let mut job = JobProgress::new(3);
    let step = job.together(&told([
        at("sort", 500, [400, 0]),
        at("sort", 500, [380, 0]),
        at("sort", 500, [200, 0]),
    ]));
    assert_eq!(
        (step.phase, step.done_bytes, step.total_bytes),
        ("exchanging", 980, 3000)
    );
    assert_eq!(step.late().as_deref(), Some("rank 2 at 20%"));
    let ranks = step.json_of_ranks().unwrap();
    let (count, last) = (&ranks["count"], &ranks["last"]);
    assert_eq!([count, &last["rank"], &last["done_bytes"]], [3, 2, 200]);
}

/// One rank has little input and a large range: over all ranks no byte is counted twice.
#[test]
fn ranks_that_write_and_ranks_that_read() {
    let mut job = JobProgress::new(2);
    let step = job.together(&told([
        at("sort", 900, [900, 0]),
        at("sort", 100, [100, 0]),
    ]));
    assert_eq!((step.done_bytes, step.total_bytes), (1000, 2000));
    let both = [
        at("sort partitions", 500, [0, 0]),
        at("sort partitions", 500, [0, 500]),
    ];
    let step = job.together(&told(both));
    assert_eq!((step.done_bytes, step.total_bytes), (1500, 2000));
    assert_eq!(
        (step.phase, step.late().as_deref()),
        ("sort partitions", Some("rank 0 at 50%"))
    );
}

#[test]
fn a_rank_that_divides_again_stays_where_it_is() {
    let mut job = JobProgress::new(2);
    job.together(&told([
        at("sort", 500, [500, 0]),
        at("sort", 500, [500, 0]),
    ]));
    let step = job.together(&told([
        at("partition again", 60, [0, 0]),
        at("sort partitions", 500, [0, 250]),
    ]));
    assert_eq!(
        (step.phase, step.done_bytes, step.total_bytes),
        ("partition again", 1250, 2000)
    );
}

#[test]
fn the_total_is_unknown_before_all_ranks_report() {
    let mut job = JobProgress::new(3);
    let step = job.together(&told([at("sort", 500, [400, 0]), at("sample", 0, [0, 0])]));
    assert_eq!(
        (step.total_bytes, step.phase, step.late()),
        (0, "sample", None)
    );
    let step = job.together(&told([at("", 0, [0, 0])]));
    assert_eq!((step.total_bytes, step.phase), (0, ""));
}

/// A rank that checks its output has sorted; bytes of the check do not count yet.
#[test]
fn laps_are_apart() {
    let mut job = JobProgress::new(2);
    job.together(&told([
        at("sort partitions", 500, [0, 500]),
        at("sort partitions", 500, [0, 400]),
    ]));
    let step = job.together(&told([
        at("validating", 500, [50, 0]),
        at("sort partitions", 500, [0, 400]),
    ]));
    assert_eq!((step.done_bytes, step.total_bytes), (1900, 2000));
    let step = job.together(&told([
        at("validating", 500, [50, 0]),
        at("validating", 500, [30, 0]),
    ]));
    assert_eq!(
        (step.phase, step.done_bytes, step.total_bytes),
        ("validating", 80, 1000)
    );
}

#[test]
fn even_ranks_are_not_named() {
    let mut job = JobProgress::new(2);
    let step = job.together(&told([
        at("sort", 500, [300, 0]),
        at("sort", 500, [250, 0]),
    ]));
    assert_eq!(step.late(), None);
    let idle = job.together(&told([at("sort", 0, [0, 0]), at("sort", 500, [250, 0])]));
    assert_eq!((idle.phase, idle.late()), ("exchanging", None));
}

#[test]
fn one_process_is_no_job() {
    let control = Control::default();
    control.enter("sort", 100);
    let step = JobProgress::new(1).step(&control, Instant::now());
    assert_eq!(
        (step.phase, step.total_bytes, step.job),
        ("reading", 200, None)
    );
}

#[test]
fn a_silent_rank_is_named() {
    let control = Control::default();
    let (mut job, begin) = (JobProgress::new(3), Instant::now());
    let mut at_second = |second, heard: &[u32]| {
        let told = at("sort", 500, [100, 0]);
        heard
            .iter()
            .for_each(|&rank| control.hear(Rank(rank), told.clone()));
        job.step(&control, begin + Duration::from_secs(second))
    };
    control.enter("sort", 500);
    assert_eq!(at_second(0, &[1, 2]).late(), None);
    assert_eq!(at_second(3, &[1]).late(), None);
    let step = at_second(5, &[1]);
    assert_eq!(step.late().as_deref(), Some("rank 2 silent 5 s"));
    assert_eq!(step.json_of_ranks().unwrap()["silent"]["rank"], 2);
    assert_eq!(at_second(6, &[1, 2]).late(), None);
}
