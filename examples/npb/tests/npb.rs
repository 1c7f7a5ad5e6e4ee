//! LU and BT against NPB's values, and their messages against counts worked out by hand.

use std::env;
use std::path::Path;
use std::process::{Command, Output};

use gristmill_sim::{Described, Program, Seeds, Verdict, simulate};
use machine::{Cluster as Simulated, Profile, Setting};
use node_real::Cluster;
use npb::class::Class;
use npb::outcome::Outcome;
use npb::{Bt, Lu};

fn lu(class: Class) -> Lu {
    let mut lu = Lu::default();
    lu.options.class = class;
    lu
}

fn bt(class: Class) -> Bt {
    let mut bt = Bt::default();
    bt.options.class = class;
    bt
}

fn on_threads<P: Program<Answer = Outcome>>(program: &P, ranks: u32) -> Vec<Outcome> {
    let program = program.clone();
    Cluster::new(ranks, 1).run(move |node| program.clone().run(node))
}

fn on_nanopu<P: Program<Answer = Outcome>>(program: &P, ranks: u32) -> Vec<Outcome> {
    let profile = Profile::load("nanopu").expect("it is built in");
    let machine = Simulated::new(profile, Setting::new(ranks)).expect("it has so many cores");
    let program = program.clone();
    let ended = machine.run(move |node| program.clone().run(node));
    ended
        .unwrap_or_else(|error| panic!("{ranks} ranks: {error}"))
        .answers
}

#[track_caller]
fn is_right(verdict: &Verdict, ending: &str) {
    assert_eq!(verdict.fault, None, "{}", verdict.result);
    assert!(verdict.result.contains(ending), "{}", verdict.result);
}

#[test]
fn class_s_verifies_on_threads() {
    for ranks in [1, 2, 4, 8, 16] {
        let lu = lu(Class::S);
        is_right(&lu.check(&on_threads(&lu, ranks)), "LU class S verified");
    }
    for ranks in [1, 4, 9, 16] {
        let bt = bt(Class::S);
        is_right(&bt.check(&on_threads(&bt, ranks)), "BT class S verified");
    }
}

/// The same ranks give the same bits, wherever they run: numbers depend on no order of arrival.
#[test]
fn simulated_ranks_find_what_threads_find() {
    fn agrees<P: Program<Answer = Outcome>>(program: &P, ranks: u32) {
        let (real, simulated) = (on_threads(program, ranks), on_nanopu(program, ranks));
        is_right(&program.check(&simulated), "unverified");
        for (real, simulated) in real.iter().zip(&simulated) {
            assert_eq!(
                real.residual.map(f64::to_bits),
                simulated.residual.map(f64::to_bits)
            );
            assert_eq!(
                real.error.map(f64::to_bits),
                simulated.error.map(f64::to_bits)
            );
            assert_eq!(
                (real.integral, real.own, real.sent),
                (simulated.integral, simulated.own, simulated.sent)
            );
        }
    }
    let (mut lu, mut bt) = (lu(Class::S), bt(Class::S));
    lu.options.iterations = Some(5);
    bt.options.iterations = Some(5);
    agrees(&lu, 4);
    lu.per_point = true;
    agrees(&lu, 8);
    agrees(&bt, 9);
}

/// Minutes without optimisation: with GRISTMILL_LONG alone.
#[test]
fn class_w_verifies_on_threads() {
    if env::var_os("GRISTMILL_LONG").is_none() {
        return eprintln!("skipped: class W takes half a minute; set GRISTMILL_LONG");
    }
    let (lu, bt) = (lu(Class::W), bt(Class::W));
    is_right(&lu.check(&on_threads(&lu, 2)), "LU class W verified");
    is_right(&bt.check(&on_threads(&bt, 4)), "BT class W verified");
}

/// What must not verify: another step, another coefficient, ranks that do not agree.
#[test]
fn other_numbers_do_not_verify() {
    let mut step = lu(Class::S);
    step.options.dt = Some(0.49);
    let fault = step.check(&on_threads(&step, 1)).fault;
    assert_eq!(fault.unwrap(), "dt is 0.49, and 0.5 in this class");
    let mut coefficient = bt(Class::S);
    coefficient.options.dissipation = 0.2501;
    let outcomes = on_threads(&coefficient, 1);
    let fault = coefficient.check(&outcomes).fault.unwrap();
    assert!(
        fault.starts_with("residual 1 is ") && fault.ends_with("and should be 1.7034283709541e-1"),
        "{fault}"
    );

    let right = bt(Class::S);
    let mut outcomes = on_threads(&right, 4);
    is_right(&right.check(&outcomes), "verified");
    outcomes[2].error[4] = 1.0;
    assert_eq!(
        right.check(&outcomes).fault.unwrap(),
        "ranks differ in their values"
    );
    outcomes[0].error[4] = f64::NAN;
    assert!(
        right
            .check(&outcomes)
            .fault
            .unwrap()
            .starts_with("error 5 is NaN")
    );
    let mut outcomes = on_threads(&right, 4);
    outcomes[0].sent.messages += 1;
    assert!(right.check(&outcomes).fault.unwrap().contains("were sent"));
}

/// An iteration of a rank with four neighbours: its messages, those of a sweep, the bytes of one, of a halo.
#[test]
fn messages_of_lu_are_those_of_the_table() {
    let table = [
        (Class::S, 16, 5, [40, 120, 2880]),
        (Class::W, 16, 5, [124, 320, 21_120]),
        (Class::W, 64, 54, [124, 160, 10_560]),
        (Class::A, 16, 5, [248, 640, 81_920]),
        (Class::A, 64, 9, [248, 320, 40_960]),
        (Class::B, 16, 10, [400, 1000, 204_000]),
        (Class::B, 64, 54, [400, 480, 97_920]),
    ];
    for (class, ranks, inside, [sweeps, of_sweep, of_halo]) in table {
        let mut lu = lu(class);
        lu.options.skeleton = true;
        lu.options.iterations = Some(1);
        for is_per_point in [false, true] {
            lu.per_point = is_per_point;
            let outcomes = on_threads(&lu, ranks);
            is_right(&lu.check(&outcomes), "unverified");
            let own = outcomes[inside].own;
            let of_row = if is_per_point { of_sweep / 40 } else { 1 };
            let expected = (sweeps * of_row + 4, sweeps * of_sweep + 4 * of_halo);
            assert_eq!((own.messages, own.bytes), expected, "{class:?} on {ranks}");
        }
    }
    // The solver sends what its skeleton does.
    let mut solver = lu(Class::S);
    solver.options.iterations = Some(2);
    let outcomes = on_threads(&solver, 16);
    assert_eq!(
        (outcomes[5].own.messages, outcomes[5].own.bytes),
        (88, 2 * (40 * 120 + 4 * 2880))
    );
}

/// The bytes of a message up, of one down, and of one with faces, whose mean over ranks is known.
#[test]
fn messages_of_bt_are_those_of_the_table() {
    let table = [
        (Class::S, 4, [11_760, 1960, 2880]),
        (Class::S, 16, [3840, 640, 2160]),
        (Class::W, 16, [11_760, 1960, 8640]),
        (Class::W, 64, [3840, 640, 5040]),
        (Class::A, 16, [69_360, 11_560, 61_440]),
        (Class::A, 25, [40_560, 6760, 52_429]),
        (Class::A, 64, [19_440, 3240, 35_840]),
        (Class::A, 100, [11_760, 1960, 29_491]),
        (Class::B, 25, [105_840, 17_640, 133_171]),
        (Class::B, 100, [29_040, 4840, 74_909]),
    ];
    for (class, ranks, [up, down, faces]) in table {
        let mut bt = bt(class);
        bt.options.skeleton = true;
        bt.options.iterations = Some(1);
        let outcomes = on_threads(&bt, ranks);
        is_right(&bt.check(&outcomes), "unverified");
        let cells = u64::from(ranks.isqrt());
        assert!(
            outcomes
                .iter()
                .all(|outcome| outcome.own.messages == 6 * cells)
        );
        let of_faces = outcomes[0].sent.bytes - u64::from(ranks) * 3 * (cells - 1) * (up + down);
        let mean = of_faces as f64 / f64::from(6 * ranks);
        assert_eq!(
            mean.round(),
            f64::from(faces as u32),
            "{class:?} on {ranks}"
        );
    }
    let mut solver = bt(Class::S);
    solver.options.iterations = Some(2);
    let outcomes = on_threads(&solver, 4);
    assert_eq!(
        outcomes[0].sent.bytes,
        2 * 4 * (3 * (11_760 + 1960) + 6 * 2880)
    );
}

/// Each number of ranks that is allowed ends, on cores that hold few messages.
#[test]
fn skeletons_end_on_any_number_of_simulated_ranks() {
    for ranks in [1, 2, 4, 8, 32, 128] {
        let mut lu = lu(Class::A);
        lu.options.skeleton = true;
        lu.options.iterations = Some(1);
        is_right(&lu.check(&on_nanopu(&lu, ranks)), "unverified");
    }
    for ranks in [1, 4, 9, 36, 121] {
        let mut bt = bt(Class::A);
        bt.options.skeleton = true;
        bt.options.iterations = Some(1);
        is_right(&bt.check(&on_nanopu(&bt, ranks)), "unverified");
    }
}

/// A rank by itself takes the time of its operations, two take half of it and the time of their messages.
#[test]
fn work_takes_time_by_its_rate() {
    let options = |ranks| {
        [
            ("cores", ranks),
            ("skeleton", "true"),
            ("iterations", "2"),
            ("mflops-per-node", "38"),
        ]
    };
    let time = |ranks| {
        let report = simulate::<Lu>("nanopu", &options(ranks), Seeds::default()).unwrap();
        assert!(report.is_right());
        report.time_us.mean
    };
    let operations = 1984.77 * 1728.0 - 10923.3 * 144.0 + 27770.9 * 12.0 - 144_010.0;
    let alone = 2.0 * operations / 38.0;
    assert!(
        (time("1") / alone - 1.0).abs() < 1e-4,
        "{} and {alone}",
        time("1")
    );
    assert!(
        (0.5..0.7).contains(&(time("2") / alone)),
        "{} of {alone}",
        time("2")
    );
}

#[test]
fn ranks_that_do_not_fit_are_refused() {
    let (lu, bt) = (lu(Class::S), bt(Class::S));
    let refused = [
        (
            lu.objection(3),
            "LU takes a power of two of ranks, and these are 3",
        ),
        (
            lu.objection(32),
            "32 ranks leave 1 of 12 points a side to a rank, and LU needs 3: use fewer ranks",
        ),
        (
            bt.objection(8),
            "BT takes a square of ranks, and these are 8",
        ),
        (
            bt.objection(25),
            "25 ranks leave 2 of 12 points a side to a cell, and BT needs 3: use fewer ranks",
        ),
    ];
    for (objection, told) in refused {
        assert_eq!(objection.unwrap(), told);
    }
    assert!(
        lu.check(&on_threads(&lu, 3))
            .fault
            .unwrap()
            .starts_with("LU takes a power of two")
    );
    assert_eq!((Lu::CORES, Bt::CORES), (4, 4));
}

fn npb() -> Command {
    Command::new(env!("CARGO_BIN_EXE_npb"))
}

fn told(output: &Output) -> (String, String, Option<i32>) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        text(&output.stdout),
        text(&output.stderr),
        output.status.code(),
    )
}

#[test]
fn the_command_tells_its_end() {
    let (out, _, code) = told(
        &npb()
            .args(["lu", "--ranks", "2", "--class", "s"])
            .output()
            .unwrap(),
    );
    assert!(
        out.starts_with("LU class S verified: ")
            && out.contains("1,100 messages with 1.6 MB; 2 ranks on threads"),
        "{out}"
    );
    assert_eq!(code, Some(0));
    let simulated = npb()
        .args(["bt", "--on", "nanopu", "--skeleton", "--json"])
        .output()
        .unwrap();
    let (out, _, code) = told(&simulated);
    assert!(
        out.contains(r#""machine": "nanopu""#) && out.contains(r#""skeleton": true"#),
        "{out}"
    );
    assert_eq!(code, Some(0));
    let (out, err, code) = told(&npb().args(["lu", "--dt", "0.4"]).output().unwrap());
    assert!(out.starts_with("LU class S failed"), "{out}");
    assert_eq!(
        (err.as_str(), code),
        ("npb: dt is 0.4, and 0.5 in this class\n", Some(1))
    );
    let wrong = [
        (
            ["--ranks", "5"],
            "npb: bt: BT takes a square of ranks, and these are 5\n",
        ),
        (
            ["--on", "cm-5"],
            "npb: cm-5: no file or built-in machine has this name",
        ),
    ];
    for (arguments, told_of) in wrong {
        let (_, err, code) = told(&npb().arg("bt").args(arguments).output().unwrap());
        assert!(
            err.starts_with(told_of) && err.lines().count() == 1,
            "{err}"
        );
        assert_eq!(code, Some(2));
    }
}

/// `mpirun` with so many ranks, more than cores, also as root; none where there is no MPI.
fn mpirun(ranks: u32) -> Option<Command> {
    let built = Path::new(env!("CARGO_BIN_EXE_npb"))
        .ancestors()
        .nth(2)
        .unwrap()
        .join("mpi/libgristmill_mpi.so");
    let shim = env::var_os("GRISTMILL_MPI").map_or(built, Into::into);
    let has_launcher = Command::new("mpirun").arg("--version").output().is_ok();
    if !shim.exists() || !has_launcher {
        eprintln!(
            "skipped: there is no mpirun, or no {} (make mpi)",
            shim.display()
        );
        return None;
    }
    let mut command = Command::new("mpirun");
    let settings = [
        ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
        ("OMPI_MCA_hwloc_base_binding_policy", "none"),
        ("OMPI_MCA_mpi_yield_when_idle", "1"),
        // Of all launchers, in seconds: ranks that wait for ever fail.
        ("MPIEXEC_TIMEOUT", "300"),
        ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
        ("PRTE_MCA_hwloc_default_binding_policy", "none"),
    ];
    command.args(["-n", &ranks.to_string(), env!("CARGO_BIN_EXE_npb")]);
    command.envs(settings).env("GRISTMILL_MPI", shim);
    Some(command)
}

#[test]
fn class_s_verifies_over_mpi() {
    for (benchmark, ranks) in [
        ("lu", 1),
        ("lu", 2),
        ("lu", 4),
        ("bt", 1),
        ("bt", 4),
        ("bt", 9),
    ] {
        let Some(mut command) = mpirun(ranks) else {
            return;
        };
        let (out, err, code) = told(&command.args([benchmark, "--on", "mpi"]).output().unwrap());
        let ending = format!("{ranks} rank{} of MPI", if ranks == 1 { "" } else { "s" });
        assert!(
            out.contains(" class S verified: ") && out.contains(&ending),
            "{out}{err}"
        );
        assert_eq!(code, Some(0));
    }
    let Some(mut command) = mpirun(2) else { return };
    let (_, err, _) = told(&command.args(["bt", "--on", "mpi"]).output().unwrap());
    assert!(
        err.contains("npb: BT takes a square of ranks, and these are 2"),
        "{err}"
    );
}
