//! Parameters from times.
//!
//! With RTT the time of one request and its reply, T(m, d) that of issuing m requests with a time d after
//! each, and PRTT(n, d, s) that of n messages of s bytes and one answer:
//!
//! ```text
//!              signature                                PRTT
//!   o_s        T(m, 0) / m, before a reply comes        (PRTT(n,d,s) - PRTT(1,0,s)) / (n-1) - d
//!   o_r        plateau of T for a long d, - d - o_s     at the receiver: n messages that have come
//!   L          RTT / 2 - o_s - o_r                      PRTT(1,0,s) / 2 - o_s - o_r
//!   g          plateau of T for d = 0                   the line through (PRTT(n,0,s) - PRTT(1,0,s)) / (n-1)
//!   G                                                   over s: its value at the least s, and its slope
//! ```
//!
//! A plateau is (T(2m, d) - T(m, d)) / m. It cannot be below o_s + o_r, nor below RTT / window: there g is *at
//! most* that. Sizes at which a message takes no longer than o_s or o_r are no points of the line; without two
//! others, g and G are at most as large as the times of all sizes say.

use super::meter::{Meter, SHORT_WORDS};
use crate::program::Measured;

/// Messages of a train.
const TRAIN: u64 = 10;

/// Words of the messages from whose times G is read: one packet each.
const SIZES: [usize; 5] = [SHORT_WORDS, 32, 64, 96, 128];

/// Messages of a round, for each of a window: for estimates.
pub(super) const MESSAGES: u64 = 64;

/// How near two times are that are taken for one.
const NEAR: f64 = 0.03;

/// Times of one round, in ticks.
struct Round {
    send: f64,
    receive: f64,
    trip: f64,
    plateau: f64,
    /// By size.
    trains: [Train; SIZES.len()],
    line: Line,
}

/// Times of messages of one size.
#[derive(Clone, Copy, Default)]
struct Train {
    bytes: f64,
    gap: f64,
    send: f64,
    receive: f64,
}

/// The gap over the bytes of a message.
struct Line {
    at_least_size: f64,
    per_byte: f64,
    at_most: bool,
}

/// All parameters by both methods.
pub(super) async fn all(meter: &Meter<'_>, rounds: u32) -> Vec<Measured> {
    // Connections, first uses of pages.
    round(meter).await;
    let mut all = Vec::new();
    for _ in 0..rounds {
        all.push(round(meter).await);
    }
    meter.end().await;
    let us = meter.node.tick_fs() as f64 / 1e9;
    let of = |name: &str,
              method: &str,
              value: &dyn Fn(&Round) -> f64,
              bound: &dyn Fn(&Round) -> bool| {
        let mut values: Vec<f64> = all.iter().map(|round| value(round) * us).collect();
        values.sort_by(f64::total_cmp);
        let bounded = all.iter().filter(|round| bound(round)).count();
        Measured {
            name: name.to_owned(),
            method: method.to_owned(),
            median: values[values.len() / 2],
            low: values[0],
            high: values[values.len() - 1],
            at_most: 2 * bounded > all.len(),
        }
    };
    let free = |_: &Round| false;
    let window = meter.window as f64;
    let (sign, prtt) = ("signature", "PRTT");
    vec![
        of("RTT", sign, &|it| it.trip, &free),
        of("o_s", sign, &|it| it.send, &free),
        of("o_s", prtt, &|it| it.trains[0].send, &free),
        of("o_r", sign, &|it| it.receive, &free),
        of("o_r", prtt, &|it| it.trains[0].receive, &free),
        of("L", sign, &|it| it.latency(it.send, it.receive), &free),
        of(
            "L",
            prtt,
            &|it| it.latency(it.trains[0].send, it.trains[0].receive),
            &free,
        ),
        of("g", sign, &|it| it.plateau, &|it| {
            is_pinned(it.plateau, [it.send + it.receive, it.trip / window])
        }),
        of("g", prtt, &|it| it.line.at_least_size, &|it| {
            it.line.at_most
        }),
        of("G", prtt, &|it| it.line.per_byte, &|it| it.line.at_most),
    ]
}

/// Whether a time is no longer than one of those below which it cannot be.
fn is_pinned(time: f64, by: [f64; 2]) -> bool {
    time <= by[0].max(by[1]) * (1.0 + NEAR)
}

async fn round(meter: &Meter<'_>) -> Round {
    let burst = 4 * meter.window + 16;
    let plateau = plateau(meter, burst, 0).await;
    let delay = 2 * plateau.max(1.0) as u64;
    meter.rest.set(delay);
    let trip = meter.train(1, 0, SHORT_WORDS).await;
    let one = meter.sends(1).await;
    // Sends within half a round trip: no reply comes.
    let few = ((trip / 2.0 / one.max(1.0)) as u64).clamp(1, meter.window);
    let send = meter.sends(few).await / few as f64;
    // The delay hides the gap, so a request takes it, its send and a receive.
    let receive = self::plateau(meter, burst, delay).await - delay as f64 - send;
    let mut trains = [Train::default(); SIZES.len()];
    for (train, words) in trains.iter_mut().zip(SIZES) {
        *train = Train::of(meter, words).await;
    }
    Round {
        send,
        receive,
        trip,
        plateau,
        line: Line::through(&trains),
        trains,
    }
}

/// Ticks for each further request, once replies come.
async fn plateau(meter: &Meter<'_>, burst: u64, delay: u64) -> f64 {
    let first = meter.issue(burst, delay).await;
    (meter.issue(2 * burst, delay).await - first) / burst as f64
}

impl Round {
    fn latency(&self, send: f64, receive: f64) -> f64 {
        self.trip / 2.0 - send - receive
    }
}

impl Train {
    async fn of(meter: &Meter<'_>, words: usize) -> Train {
        let rough = meter.train(TRAIN, 0, words).await as u64;
        meter.rest.set(meter.rest.get().max(rough));
        let one = meter.train(1, 0, words).await;
        let further = (TRAIN - 1) as f64;
        let gap = (meter.train(TRAIN, 0, words).await - one) / further;
        // Longer than any gap.
        let apart = one.max(gap).max(1.0) as u64;
        let slow = meter.train(TRAIN, apart, words).await;
        Train {
            bytes: 8.0 * words as f64,
            gap,
            send: (slow - one) / further - apart as f64,
            receive: meter.receives(TRAIN, 2 * apart, words).await,
        }
    }

    fn is_free(&self) -> bool {
        !is_pinned(self.gap, [self.send, self.receive])
    }
}

impl Line {
    /// By least squares.
    fn through(trains: &[Train]) -> Line {
        let mut points: Vec<Train> = trains.iter().copied().filter(Train::is_free).collect();
        let at_most = points.len() < 2;
        if at_most {
            points = trains.to_vec();
        }
        let mean = |of: fn(&Train) -> f64| points.iter().map(of).sum::<f64>() / points.len() as f64;
        let (bytes, gap) = (mean(|point| point.bytes), mean(|point| point.gap));
        let (above, below) = points.iter().fold((0.0, 0.0), |(above, below), point| {
            let from_mean = point.bytes - bytes;
            (
                above + from_mean * (point.gap - gap),
                below + from_mean * from_mean,
            )
        });
        let per_byte = above / below;
        Line {
            at_least_size: gap + per_byte * (trains[0].bytes - bytes),
            per_byte,
            at_most,
        }
    }
}
