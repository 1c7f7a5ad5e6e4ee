use node::Random;

use super::*;
use crate::network::packet::{Class, Kind, Packet};
use crate::network::store::bins::BinIndex;
use crate::network::store::slab::Slab;

const MODEL: Model = Model {
    pace: Pace::TICK,
    queue_flits: 10_000,
    header: 9,
    has_priorities: false,
};

/// A packet of 10 flits, or 9 of control, that arrives at a tick of the window.
fn arrival(kind: Kind, tick: u64, number: usize) -> Arrival {
    let mut packet = Packet::new(kind, Ticks(0), number as u32, 0);
    packet.flits = if kind.is_control() { 9 } else { 10 };
    Arrival::new(&packet, tick, BinIndex::new(0, number % 32), 0)
}

/// The ways to run a window: the one that the port chooses, or the general one.
#[derive(Clone, Copy, Debug)]
enum Way {
    Chosen,
    Full,
}

/// Runs packets with their times through windows of `step` ticks; returns the numbers of those that
/// leave with their starts, and of those that are refused.
fn run(packets: &[(Kind, u64)], step: u64, model: &Model, way: Way) -> (Vec<(u32, u64)>, Vec<u32>) {
    let (mut port, mut line) = (Port::new(), Line::default());
    let id = Slab::default().put(Packet::new(Kind::Data, Ticks(0), 0, 0));
    let (mut left, mut refused) = (Vec::new(), Vec::new());
    let mut kept: Vec<u32> = Vec::new();
    for begin in (0..48_000).step_by(step as usize) {
        let window = Ticks(begin)..Ticks(begin + step);
        let due: Vec<(u32, Arrival)> = (0..)
            .zip(packets)
            .filter(|(_, (_, time))| (begin..begin + step).contains(time))
            .map(|(number, (kind, time))| (number, arrival(*kind, time - begin, number as usize)))
            .collect();
        let arrivals: Vec<Arrival> = due.iter().map(|(_, arrival)| *arrival).collect();
        match way {
            Way::Chosen => port.run(&window, &arrivals, model, &mut line),
            Way::Full => {
                line.begin(window.start, &port.kept, &arrivals, model.queue_flits);
                port.run_full(&window, model, &mut line);
            }
        }
        let numbers: Vec<u32> = kept
            .iter()
            .copied()
            .chain(due.iter().map(|due| due.0))
            .collect();
        let number = |position: u32| numbers[position as usize];
        let start = |leaving: &Leaving| begin + u64::from(leaving.tick);
        left.extend(
            line.leaving
                .iter()
                .map(|leaving| (number(leaving.position), start(leaving))),
        );
        refused.extend(line.refused.iter().copied().map(number));
        kept = line.staying.iter().copied().map(number).collect();
        let staying = line.staying.iter().map(|at| line.at(*at).kept(id));
        port.keep(staying);
    }
    assert!(kept.is_empty(), "all have left");
    let flits = |(number, _): &(u32, u64)| {
        if packets[*number as usize].0.is_control() {
            9
        } else {
            10
        }
    };
    // No packet is trimmed then.
    if model.queue_flits == MODEL.queue_flits {
        assert_eq!(port.sent_flits, left.iter().map(flits).sum::<u64>());
    }
    (left, refused)
}

#[test]
fn control_precedes_data_without_preemption() {
    let packets = [
        (Kind::Data, 0),
        (Kind::Data, 1),
        (Kind::Ack, 4),
        (Kind::Data, 60),
        (Kind::Ack, 62),
    ];
    let expected = [(0, 0), (2, 10), (1, 19), (3, 60), (4, 70)];
    for step in [1, 7, 50, 199] {
        for way in [Way::Chosen, Way::Full] {
            let (left, _) = run(&packets, step, &MODEL, way);
            assert_eq!(left, expected, "in steps of {step}, {way:?}");
        }
    }
}

#[test]
fn an_idle_link_takes_the_first_arrival_of_a_tick() {
    let packets = [(Kind::Data, 5), (Kind::Ack, 5), (Kind::Data, 5)];
    for step in [1, 8, 100] {
        for way in [Way::Chosen, Way::Full] {
            let (left, _) = run(&packets, step, &MODEL, way);
            assert_eq!(
                left,
                [(0, 5), (1, 15), (2, 24)],
                "in steps of {step}, {way:?}"
            );
        }
    }
}

/// The departures and refusals of a port that looks at every tick.
fn tick_by_tick(packets: &[(Kind, u64)], model: &Model) -> (Vec<(u32, u64)>, Vec<u32>) {
    let (mut left, mut refused) = (Vec::new(), Vec::new());
    // Waiting packets: number, flits, and whether it is a header.
    let mut queues: [Vec<(u32, u64, bool)>; 2] = Default::default();
    let flits = |queue: &Vec<(u32, u64, bool)>| queue.iter().map(|waiting| waiting.1).sum::<u64>();
    let headers = |queue: &Vec<(u32, u64, bool)>| queue.iter().filter(|waiting| waiting.2).count();
    let (mut busy, mut turn, header) = (0, 0, u64::from(model.header));
    for now in 0..48_000 {
        for (number, (kind, _)) in (0..).zip(packets).filter(|(_, packet)| packet.1 == now) {
            let is_data = !kind.is_control();
            let length = if is_data { 10 } else { 9 };
            let queue = usize::from(is_data);
            if busy <= now && queues.iter().all(Vec::is_empty) {
                left.push((number, now));
                busy = now + model.pace.ticks(length).0;
            } else if flits(&queues[queue]) + length <= model.queue_flits {
                queues[queue].push((number, length, kind.class() == Class::Header));
            } else if is_data
                && flits(&queues[0]) + header <= model.queue_flits
                && headers(&queues[0]) < 64
            {
                queues[0].push((number, header, true));
            } else {
                refused.push(number);
            }
        }
        if busy <= now && queues.iter().any(|queue| !queue.is_empty()) {
            let next_is_header = queues[0].first().is_some_and(|next| next.2);
            let is_turn = turn > 0 && next_is_header && !queues[1].is_empty();
            let is_data = queues[0].is_empty() || is_turn;
            let (number, length, is_header) = queues[usize::from(is_data)].remove(0);
            turn = match is_header {
                true => 160,
                false if is_data => turn - length.min(turn),
                false => turn,
            };
            left.push((number, now));
            busy = now + model.pace.ticks(length).0;
        }
    }
    (left, refused)
}

/// Packets of any of some kinds at any time, at a load that queues them now and then.
fn packets(seed: u64, kinds: &[Kind]) -> Vec<(Kind, u64)> {
    let mut random = Random::new(seed);
    let mut drawn = |below: u64| random.next_u64() % below;
    let (gap, burst) = (1 + drawn(24), 1 + drawn(6) * drawn(40));
    let mut time = 0;
    (0..400)
        .map(|number| {
            if number % burst == 0 {
                time += drawn(gap * burst * 2);
            }
            (kinds[drawn(kinds.len() as u64) as usize], time)
        })
        .collect()
}

#[test]
fn both_ways_and_all_windows_do_as_a_port_that_looks_at_every_tick() {
    let paces = [
        Pace::TICK,
        Pace::of(100_000, 8, 312_500),
        Pace::of(800_000, 8, 312_500),
    ];
    let (mut refused, mut simple) = (0, 0);
    for seed in 0..54 {
        let kinds = [
            &[Kind::Data, Kind::Ack][..],
            &[Kind::Data, Kind::Ack, Kind::Trimmed],
            &[Kind::Data],
        ][seed as usize % 3];
        let packets = packets(seed, kinds);
        for queue_flits in [45, 600, 10_000] {
            let model = Model {
                pace: paces[seed as usize / 3 % 3],
                queue_flits,
                ..MODEL
            };
            let expected = tick_by_tick(&packets, &model);
            refused += expected.1.len();
            simple += usize::from(expected.1.is_empty());
            for (step, way) in [
                (13, Way::Chosen),
                (979, Way::Chosen),
                (16_000, Way::Chosen),
                (979, Way::Full),
            ] {
                let got = run(&packets, step, &model, way);
                let of = format!("seed {seed}, {queue_flits} flits, steps of {step}, {way:?}");
                assert_eq!(got, expected, "{of}");
            }
        }
    }
    assert!(refused > 100 && simple > 50, "{refused} {simple}");
}

/// Ticks at which packets of these priorities start, each of 10 flits, from arrivals in windows.
fn by_priority(packets: &[(usize, u64)], step: u64, model: &Model) -> (Vec<(u32, u64)>, Vec<u32>) {
    let (mut port, mut line) = (Port::new(), Line::default());
    let id = Slab::default().put(Packet::new(Kind::Data, Ticks(0), 0, 0));
    let (mut left, mut refused, mut kept) = (Vec::new(), Vec::new(), Vec::<u32>::new());
    for begin in (0..1000).step_by(step as usize) {
        let window = Ticks(begin)..Ticks(begin + step);
        let due = (0..)
            .zip(packets)
            .filter(|(_, it)| window.contains(&Ticks(it.1)));
        let (numbers, arrivals): (Vec<u32>, Vec<Arrival>) = due
            .map(|(number, (priority, time))| {
                let bare = arrival(Kind::Data, time - begin, number as usize);
                (number, bare.with_priority(*priority))
            })
            .unzip();
        port.run(&window, &arrivals, model, &mut line);
        let numbers: Vec<u32> = kept.iter().copied().chain(numbers).collect();
        let number = |position: &u32| numbers[*position as usize];
        let start = |it: &Leaving| (number(&it.position), begin + u64::from(it.tick));
        left.extend(line.leaving.iter().map(start));
        refused.extend(line.refused.iter().map(number));
        kept = line.staying.iter().map(number).collect();
        let staying = line.staying.iter().map(|at| line.at(*at).kept(id));
        port.keep(staying);
    }
    (left, refused)
}

#[test]
fn the_most_urgent_packet_goes_first_and_a_full_queue_refuses() {
    let mut model = Model {
        has_priorities: true,
        ..MODEL
    };
    let packets = [
        (3, 0),
        (3, 1),
        (2, 2),
        (1, 3),
        (0, 12),
        (1, 13),
        (2, 14),
        (3, 15),
    ];
    let order = [
        (0, 0),
        (3, 10),
        (4, 20),
        (5, 30),
        (2, 40),
        (6, 50),
        (1, 60),
        (7, 70),
    ];
    for step in [1, 7, 50, 199] {
        let (left, refused) = by_priority(&packets, step, &model);
        assert_eq!(
            (left, refused),
            (order.to_vec(), vec![]),
            "in steps of {step}"
        );
    }
    // Room for one packet of each priority.
    model.queue_flits = 10;
    for step in [1, 7, 50, 199] {
        let (left, refused) = by_priority(&packets, step, &model);
        let numbers: Vec<u32> = left.iter().map(|it| it.0).collect();
        assert_eq!(numbers, [0, 3, 4, 5, 2, 1], "in steps of {step}");
        assert_eq!(refused, [6, 7], "in steps of {step}");
    }
}

/// A link that becomes free as an urgent packet arrives has not chosen another one.
#[test]
fn a_packet_that_arrives_as_the_link_is_free_takes_part_in_the_choice() {
    let model = Model {
        has_priorities: true,
        ..MODEL
    };
    let packets = [(3, 0), (3, 5), (0, 10), (1, 30)];
    for step in [1, 7, 10, 50] {
        let (left, _) = by_priority(&packets, step, &model);
        let order = [(0, 0), (2, 10), (1, 20), (3, 30)];
        assert_eq!(left, order, "in steps of {step}");
    }
}
