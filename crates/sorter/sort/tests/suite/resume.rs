//! Resumed sorts, on the deterministic driver: whatever ended a sort, and whichever ranks continue
//! it, the outputs are those of an undisturbed sort.

use crate::common::job;
use crate::common::resumable::{Case, again, check, input, output, run};
use std::path::Path;

use kernel::patterns::{Pattern, draw};
use node::Random;
use pipeline::Control;
use record::{Keep, Order, Ties};
use rehearsal::Driver;
use rehearsal::Durability;
use sort::{Job, Source, Target};

/// Checks that only inputs and outputs are left.
fn check_swept(driver: &Driver, ranks: u32, what: &str) {
    for rank in 0..ranks {
        for path in driver.disks(rank).paths() {
            assert!(
                !path.to_string_lossy().contains("gristmill"),
                "{what}: {}",
                path.display()
            );
        }
    }
}

#[test]
fn an_undisturbed_sort_leaves_nothing() {
    for seed in 0..80 {
        let ranks = 1 + (seed % 4) as u32;
        let case = match seed {
            0..60 => Case::new(seed, ranks, 2000),
            60..70 => Case::new(seed, ranks, 2000).unique(Keep::First),
            _ => Case::new(seed, ranks, 2000).unique(Keep::Last),
        };
        let driver = case.begin(seed);
        let reports = check(run(&driver, &case.job), &format!("seed {seed}"));
        assert!(
            case.outputs(&driver, ranks) == Some(case.expected()),
            "seed {seed}"
        );
        check_swept(&driver, ranks, &format!("seed {seed}"));
        let all = case.parts.concat().len() as u64 / case.order.record_bytes() as u64;
        let read: u64 = reports[0].ranks.iter().map(|rank| rank.read_records).sum();
        assert_eq!(read, all, "seed {seed}");
        let kept = case.expected().len() as u64 / case.order.record_bytes() as u64;
        let written = reports.last().unwrap().clone().of_all().records;
        assert_eq!(written, kept, "seed {seed}");
    }
}

/// A power failure may leave the empty file that shows the rights of new files, beside the output:
/// in a directory that holds no other temporary files.
#[test]
fn a_left_probe_is_swept() {
    let mut case = Case::new(3, 2, 300);
    let resume = case.job.resume.as_mut().unwrap();
    resume.temporary = vec!["/tmp".into()];
    let driver = case.begin(3);
    let probe = Path::new("/.gristmill-0123456789abcdef.tmp");
    driver.disks(1).put(probe, Vec::new());
    check(run(&driver, &case.job), "beside a probe");
    check_swept(&driver, 2, "beside a probe");
}

/// A rank dies at any moment, again and again while others continue: in the end all is sorted. Some
/// disks cannot give back ranges of files; there a spill file is cut as soon as everything in it is
/// in the output.
#[test]
fn every_death_is_resumed() {
    die_and_resume(|_, case| case);
}

/// The same where records with equal keys are dropped: a partition is placed behind those that an
/// earlier run has written.
#[test]
fn every_death_of_a_unique_sort_is_resumed() {
    die_and_resume(|seed, case| case.unique([Keep::First, Keep::Last][seed as usize % 2]));
}

fn die_and_resume(kind: impl Fn(u64, Case) -> Case) {
    let (mut deaths, mut resumed) = (0, 0);
    for seed in 0..24 {
        let case = match seed {
            0..12 => Case::new(seed, 3, 400),
            12..20 => Case::of_lines(seed, 3, seed % 4 > 0),
            _ => Case::of_rows(seed, 3),
        };
        let case = kind(seed, case);
        let mut driver = case.begin(seed);
        let mut random = Random::new(seed);
        let all = case.records();
        for life in 0.. {
            assert!(life < 40, "seed {seed}: it never ends");
            for rank in 0..3 {
                driver.disks(rank).set_durability(Durability::Synced);
                if seed % 2 == 1 {
                    driver.disks(rank).refuse_holes();
                }
            }
            let victim = random.below(3) as u32;
            // Deaths come later and later, so that each life makes progress.
            let nth = 1 + random.below(700 * (life + 1)) as u64;
            driver.kill(victim, nth);
            let ends = run(&driver, &case.job);
            if driver.deaths() == 0 {
                let reports = check(ends, &format!("seed {seed}, life {life}"));
                let read: u64 = reports[0].ranks.iter().map(|rank| rank.read_records).sum();
                if (read as usize) < all {
                    resumed += 1;
                    let percent = percent_resumed(&reports[0].reason);
                    // Phase one, which alone reads the input, is half of the work.
                    let least = if read == 0 { 50 } else { 0 };
                    assert!((least..=100).contains(&percent), "{percent}%, {read} read");
                }
                break;
            }
            deaths += 1;
            driver.disks(victim).crash(random.below(1 << 30) as u64);
            driver = again(
                &driver,
                seed + 1000 * life as u64,
                &[vec![0], vec![1], vec![2]],
            );
        }
        assert!(
            case.outputs(&driver, 3) == Some(case.expected()),
            "seed {seed}"
        );
        check_swept(&driver, 3, &format!("seed {seed}"));
    }
    assert!(deaths > 20, "only {deaths} deaths");
    assert!(resumed > 3, "only {resumed} did not read all again");
}

fn percent_resumed(reason: &str) -> u32 {
    let percent = reason.strip_prefix("resumed: ");
    let percent = percent.and_then(|text| text.strip_suffix("% of the work was already done"));
    percent.expect(reason).parse().expect(reason)
}

/// The disks of a sort that was ended, for its next run.
fn ended(case: &Case, seed: u64) -> Option<Driver> {
    let driver = case.begin(seed);
    let mut random = Random::new(seed);
    driver.kill(random.below(3) as u32, 200 + random.below(3000) as u64);
    let _ = run(&driver, &case.job);
    (driver.deaths() > 0).then_some(driver)
}

fn has_begun(driver: &Driver) -> bool {
    let all = (0..2).flat_map(|rank| driver.disks(rank).paths());
    all.into_iter()
        .any(|path| path.to_string_lossy().ends_with(".begun"))
}

/// A rank's disk is gone, except its input: its range is sorted again.
#[test]
fn a_lost_range_is_sorted_again() {
    let (mut lost, mut found) = (0, 0);
    for seed in 0..40 {
        let case = Case::new(seed, 3, 600);
        let Some(driver) = ended(&case, seed) else {
            continue;
        };
        let victim = (seed % 3) as u32;
        let from =
            [vec![0], vec![1], vec![2]].map(|all| if all[0] == victim { Vec::new() } else { all });
        found += usize::from(driver.disks(victim).paths().len() > 1);
        let driver = again(&driver, seed, &from);
        driver
            .disks(victim)
            .put(&input(victim), case.parts[victim as usize].clone());
        check(run(&driver, &case.job), &format!("seed {seed}"));
        assert!(
            case.outputs(&driver, 3) == Some(case.expected()),
            "seed {seed}"
        );
        check_swept(&driver, 3, &format!("seed {seed}"));
        lost += 1;
    }
    assert!(
        lost > 15 && found > 10,
        "{lost} lost, {found} had something"
    );
}

/// Two ranks continue what three began; the third's disk is now one of theirs, or gone.
#[test]
fn fewer_ranks_may_continue() {
    let mut runs = 0;
    for seed in 0..40 {
        let case = Case::new(seed, 3, 600);
        let Some(driver) = ended(&case, seed) else {
            continue;
        };
        // If nothing is durable yet, two ranks begin a sort of two parts.
        if !has_begun(&driver) {
            continue;
        }
        let is_gone = seed % 2 == 0;
        let from = if is_gone {
            [vec![0], vec![1]]
        } else {
            [vec![0], vec![1, 2]]
        };
        let before = driver;
        let driver = again(&before, seed, &from);
        driver.disks(0).move_here(before.disks(2), &input(2));
        check(run(&driver, &case.job), &format!("seed {seed}"));
        assert!(
            case.outputs(&driver, 2) == Some(case.expected()),
            "seed {seed}"
        );
        check_swept(&driver, 2, &format!("seed {seed}"));
        runs += 1;
    }
    assert!(runs > 15, "{runs}");
}

/// A lost range cannot be sorted again without all inputs: the error names the missing one, and
/// saved progress stays.
#[test]
fn a_lost_range_needs_all_inputs() {
    let mut refused = 0;
    for seed in 0..20 {
        let case = Case::new(seed, 3, 600);
        let Some(driver) = ended(&case, seed) else {
            continue;
        };
        let began = has_begun(&driver);
        let driver = again(&driver, seed, &[vec![0], vec![1]]);
        let ends = run(&driver, &case.job);
        for end in ends {
            let Err(failure) = end else { continue };
            let said = failure.to_string();
            assert!(said.contains("part 2 of the input"), "seed {seed}: {said}");
            refused += usize::from(began);
        }
    }
    assert!(refused > 10, "{refused}");
}

/// The saved progress is of a sort by another key, or of another input.
#[test]
fn another_job_is_refused() {
    let case = Case::new(3, 3, 600);
    let driver = (1..)
        .find_map(|seed| ended(&case, seed))
        .expect("one of them dies");
    let mut other = Case::new(3, 3, 600);
    let ties = if case.job.contents.is_stable() {
        Ties::Record
    } else {
        Ties::Position
    };
    let order = Order::new(case.order.record_bytes(), case.order.keys(), ties).unwrap();
    other.job.contents = job(&[], "", &order).contents;
    let driver = again(&driver, 1, &[vec![0], vec![1], vec![2]]);
    for end in run(&driver, &other.job) {
        let said = end.unwrap_err().to_string();
        assert!(said.contains("belongs to another sort"), "{said}");
    }
}

/// A disk that loses synced data is found out: the sort reports missing or changed records.
#[test]
fn a_disk_that_does_not_sync_is_found_out() {
    let order = Order::gensort(Ties::Record);
    let mut wrong = 0;
    for seed in 0..40 {
        let mut case = Case::new(seed, 3, 600);
        case.order = order.clone();
        case.job.contents = job(&[], "", &order).contents;
        case.parts = (0..3)
            .map(|rank| draw(Pattern::Uniform, rank, 400, 100))
            .collect();
        case.job.tuning.steps = Some(4);
        let driver = case.begin(seed);
        let mut random = Random::new(seed);
        for rank in 0..3 {
            driver.disks(rank).set_durability(Durability::Never);
        }
        driver.kill(1, 1000 + random.below(3000) as u64);
        let _ = run(&driver, &case.job);
        driver.disks(1).crash(seed);
        let next = again(&driver, seed, &[vec![0], vec![1], vec![2]]);
        let ends = run(&next, &case.job);
        wrong += usize::from(ends.iter().any(Result::is_err));
        if ends.iter().all(Result::is_ok) {
            assert!(
                case.outputs(&next, 3) == Some(case.expected()),
                "seed {seed}"
            );
        }
    }
    assert!(wrong > 0, "nothing showed that syncs are needed");
}

/// Ranks that would choose different numbers of epochs agree on one.
#[test]
fn ranks_agree_on_steps() {
    for seed in 0..6 {
        let case = Case::new(seed, 3, 600);
        let driver = case.begin(seed);
        let base = case.job.clone();
        let ends = driver.run(move |node| {
            let mut job = Job {
                control: Control::default(),
                ..base.clone()
            };
            let rank = node.rank().0;
            job.sources = vec![Source::Path(input(rank))];
            job.target = Target::Path(output(rank));
            job.tuning.steps = Some(1 + rank);
            async move { sort::run(&node, &job).await }
        });
        check(
            ends.unwrap_or_else(|stuck| panic!("{stuck}")),
            &format!("seed {seed}"),
        );
        assert!(
            case.outputs(&driver, 3) == Some(case.expected()),
            "seed {seed}"
        );
    }
}

/// A changed input is refused, even if it would not be read again.
#[test]
fn a_changed_input_is_refused() {
    let (mut refused, mut all_had_come) = (0, 0);
    for seed in 0..80 {
        let case = Case::new(seed, 3, 600);
        let driver = case.begin(seed);
        driver.kill(1, 1500 + 100 * (seed % 40));
        let _ = run(&driver, &case.job);
        let names = |driver: &Driver| {
            let paths = (0..3).flat_map(|rank| driver.disks(rank).paths());
            paths
                .map(|path| path.to_string_lossy().into_owned())
                .collect::<Vec<_>>()
        };
        if driver.deaths() == 0 || !has_begun(&driver) || case.parts[2].is_empty() {
            continue;
        }
        all_had_come += usize::from(names(&driver).iter().any(|name| name.contains(".part-")));
        let next = again(&driver, seed, &[vec![0], vec![1], vec![2]]);
        // Of one length always; and where no probe looks, or with the same bytes.
        let (path, whole) = (input(2), case.parts[2].clone());
        let what = match seed % 3 {
            0 => {
                next.disks(2).edit(&path, 0, &[whole[0] ^ 1]);
                "has other contents"
            }
            1 => {
                let middle = whole.len() / 2;
                next.disks(2).edit(&path, middle as u64, &[whole[middle]]);
                "has other contents"
            }
            _ => {
                next.disks(2).put(Path::new("/other"), Vec::new());
                next.disks(2).put(&path, whole);
                "was replaced"
            }
        };
        for end in run(&next, &case.job) {
            let said = end.unwrap_err().to_string();
            assert!(said.contains("part 2 of the input"), "seed {seed}: {said}");
            assert!(
                said.contains(&format!("/in-2 {what}")),
                "seed {seed}: {said}"
            );
            refused += 1;
        }
    }
    assert!(
        refused > 10 && all_had_come > 2,
        "{refused} refused, {all_had_come} late"
    );
}

/// Rows of three ranks, of which the first two have inputs without a byte, are continued by those.
#[test]
fn ranks_without_rows_continue_with_the_header_of_others() {
    let mut runs = 0;
    for seed in 0..40 {
        let mut case = Case::of_rows(seed, 3);
        let driver = case.begin(seed);
        for rank in 0..2 {
            case.parts[rank as usize].clear();
            driver.disks(rank).put(&input(rank), Vec::new());
        }
        driver.kill(2, 600 + 100 * (seed % 20));
        let _ = run(&driver, &case.job);
        if driver.deaths() == 0 || !has_begun(&driver) {
            continue;
        }
        let next = again(&driver, seed, &[vec![0], vec![1, 2]]);
        check(run(&next, &case.job), &format!("seed {seed}"));
        assert!(
            case.outputs(&next, 2) == Some(case.expected()),
            "seed {seed}"
        );
        check_swept(&next, 2, &format!("seed {seed}"));
        runs += 1;
    }
    assert!(runs > 10, "{runs}");
}

/// Records that wait on disk must not get another header.
#[test]
fn another_header_is_refused() {
    let mut refused = 0;
    for seed in 0..20 {
        let mut case = Case::of_rows(seed, 3);
        let Some(driver) = ended(&case, seed).filter(has_begun) else {
            continue;
        };
        let next = again(&driver, seed, &[vec![0], vec![1], vec![2]]);
        case.header = b"number,names\n".to_vec();
        for (rank, part) in (0..).zip(&case.parts) {
            let file = [&case.header[..], part].concat();
            next.disks(rank).put(&input(rank), file);
        }
        for end in run(&next, &case.job) {
            let said = end.unwrap_err().to_string();
            assert!(said.contains("other columns"), "seed {seed}: {said}");
            refused += 1;
        }
    }
    assert!(refused > 10, "{refused}");
}

/// Rank 0 dies while it writes the list: no draft of that stays, even where no other temporary file
/// is written.
#[test]
fn a_draft_of_the_list_is_swept() {
    let mut case = Case::new(5, 2, 300);
    case.job.resume.as_mut().unwrap().temporary = vec!["/tmp".into()];
    case.job.listing = Some("/out-0.manifest.json".into());
    let whole = case.begin(5);
    check(run(&whole, &case.job), "undisturbed");
    let events = whole.events();
    let mut drafts = 0;
    for nth in (events / 2..events).step_by(2) {
        let driver = case.begin(5);
        driver.kill(0, nth);
        let _ = run(&driver, &case.job);
        let left = driver.disks(0).paths();
        let is_draft = |path: &Path| path.to_string_lossy().starts_with("/.gristmill-");
        drafts += usize::from(left.iter().any(|path| is_draft(path)));
        let next = again(&driver, 5, &[vec![0], vec![1]]);
        check(run(&next, &case.job), &format!("event {nth}"));
        check_swept(&next, 2, &format!("event {nth}"));
        assert!(
            case.outputs(&next, 2) == Some(case.expected()),
            "event {nth}"
        );
    }
    assert!(drafts > 0, "no death left a draft");
}
