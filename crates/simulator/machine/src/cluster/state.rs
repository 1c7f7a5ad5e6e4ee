//! The state of a block without the futures of its tasks, so that a running task can change it.

mod shared_cores;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use node::Rank;
use node::backend::{Disks, PortInbox, Start};

use crate::cluster::bulk::{Bulk, Parcel};
use crate::cores::meter::Meter;
use crate::cores::rank::RankState;
use crate::cores::shared_cache::SharedCache;
use crate::cores::sharing::Sharing;
use crate::cores::task::{Task, Waits};
use crate::network::fabric::Fabric;
use crate::network::layout::Layout;
use crate::network::store::prefetch;
use crate::network::switch::Switch;
use crate::nic::Nic;
use crate::report::{Counts, Report, Sent};
use crate::schedule::{Event, EventKind, Mailbox, Ticks};
use disk::{Call, DiskModel, MemoryDisks, Timeline};

/// The state that the tasks of a block share.
pub struct Shared {
    pub layout: Arc<Layout>,
    pub mailbox: Arc<Mailbox>,
    pub state: RefCell<BlockState>,
}

pub struct BlockState {
    pub fabric: Fabric,
    switches: Vec<Switch>,
    nics: Vec<Nic>,
    pub first_rank: u32,
    pub ranks: Vec<RankState>,
    pub tasks: Vec<Task>,
    /// The cache of each NIC's cores, if they wait for each other there.
    pub caches: Vec<SharedCache>,
    pub meter: Meter,
    pub sends: Vec<Sent>,
    /// Spawned tasks that have no future yet.
    pub starts: Vec<(u32, Start)>,
    pub bulk: Bulk,
    pub inboxes: BTreeMap<(u32, u16), Arc<PortInbox>>,
    /// Disks of the ranks that have used or were given some.
    pub disks: BTreeMap<u32, Arc<dyn Disks>>,
    calls: BTreeMap<u32, Call>,
    next_call: u32,
}

/// An event that the block handles, since it runs a task or other code.
pub enum Upcall {
    Nothing,
    /// The NIC has no more events in this window.
    Over,
    /// A task resumes, on the given core or on a free one.
    Resume {
        task: u32,
        turn: u32,
        core: Option<usize>,
    },
    Call(Call),
    Parcel(Parcel),
}

impl BlockState {
    pub fn new(layout: &Arc<Layout>, block: u32) -> BlockState {
        let topology = &layout.topology;
        let (first_switch, until_switch) = layout.switches_of(block);
        let (first_nic, until_nic) = layout.nics_of(block);
        let each = topology.ranks_per_nic;
        let first_rank = (first_nic * each).min(topology.ranks);
        // Every NIC has all its cores; those beyond the last rank are idle.
        let cores = ((until_nic - first_nic) * each) as usize;
        let setting = &layout.setting;
        let fabric = Fabric::new(layout, block);
        let switch = |number| Switch::new(number, (number - first_switch) as usize, &fabric);
        let nic = |number| Nic::new(number, &fabric);
        let line = layout.profile.core.l2_line_cycles;
        let caches = match line {
            Ticks(0) => 0,
            _ => until_nic - first_nic,
        };
        BlockState {
            switches: (first_switch..until_switch).map(switch).collect(),
            nics: (first_nic..until_nic).map(nic).collect(),
            fabric,
            first_rank,
            ranks: (0..cores).map(|_| RankState::default()).collect(),
            tasks: Vec::new(),
            caches: (0..caches).map(|_| SharedCache::new(line)).collect(),
            meter: Meter::new(first_rank, cores, setting.sample()),
            sends: Vec::new(),
            starts: Vec::new(),
            bulk: Bulk::default(),
            inboxes: BTreeMap::new(),
            disks: BTreeMap::new(),
            calls: BTreeMap::new(),
            next_call: 0,
        }
    }

    /// Handles the events of a NIC before `until`, up to one that the block must handle. At one
    /// moment packets arrive first, then the NIC acts, then its tasks resume.
    pub fn run_nic(&mut self, local: usize, until: Ticks) -> Upcall {
        let fabric = &mut self.fabric;
        fabric.scheduler.nic = local;
        let each = fabric.layout.topology.ranks_per_nic as usize;
        let nic = &mut self.nics[local];
        let ranks = &mut self.ranks[local * each..(local + 1) * each];
        loop {
            let arrival = fabric.arrivals[local].front(&fabric.scratch.slab);
            let arrival = arrival.map_or(Ticks::NEVER, |next| next.time);
            let (own, event) = (nic.next(), fabric.scheduler.events[local].next());
            let next = arrival.min(own).min(event);
            if next >= until {
                fabric.scheduler.wake[local] = next.min(nic.drain(until, fabric));
                return Upcall::Over;
            }
            fabric.scheduler.now = next;
            fabric.counts.events += 1;
            if arrival == next
                && let Some(id) = fabric.arrivals[local].pop(&fabric.scratch.slab)
            {
                if let Some(next) = fabric.arrivals[local].front(&fabric.scratch.slab) {
                    fabric.scratch.slab.prefetch(next.next);
                    nic.prefetch_for(next, ranks);
                }
                nic.arrive(id, ranks, fabric);
            } else if own == next {
                nic.act(ranks, fabric);
            } else if let Some(event) = fabric.scheduler.events[local].pop() {
                return self.handle_event(event);
            }
        }
    }

    /// The first NIC from `from` on that has something to do before `until`; its state is
    /// prefetched.
    pub fn next_nic(&self, from: usize, until: Ticks) -> Option<usize> {
        let wake = &self.fabric.scheduler.wake[from..];
        let next = from + wake.iter().position(|wake| *wake < until)?;
        self.nics[next].prefetch();
        self.fabric.arrivals[next].prefetch(&self.fabric.scratch.slab);
        self.fabric.scheduler.events[next]
            .peek()
            .into_iter()
            .for_each(prefetch);
        Some(next)
    }

    fn handle_event(&mut self, event: Event) -> Upcall {
        match event.kind {
            EventKind::Resume => {
                self.fabric.scheduler.resuming -= 1;
                self.fabric.scheduler.last_resumed = self.fabric.scheduler.now;
                Upcall::Resume {
                    task: event.target,
                    turn: event.turn,
                    core: None,
                }
            }
            EventKind::CoreFree => {
                self.fabric.scheduler.resuming -= 1;
                self.give_core(event.target)
            }
            EventKind::Call => self
                .calls
                .remove(&event.target)
                .map_or(Upcall::Nothing, Upcall::Call),
            EventKind::Parcel => Upcall::Parcel(self.bulk.arrived(event.target)),
        }
    }

    /// Adds new events to the NIC of this rank from now on.
    pub fn select_nic(&mut self, local_rank: u32) {
        self.fabric.scheduler.nic = self.fabric.layout.topology.nic_of(local_rank) as usize;
    }

    /// Schedules the arrival of a parcel.
    pub fn expect(&mut self, time: Ticks, parcel: Parcel) {
        self.select_nic(parcel.to().0 - self.first_rank);
        let target = self.bulk.expect(parcel);
        self.fabric.scheduler.add(Event {
            time,
            kind: EventKind::Parcel,
            target,
            turn: 0,
        });
    }

    /// The NIC of a rank of this block, and its network.
    pub fn nic(&mut self, local_rank: u32) -> (&mut Nic, &mut Fabric) {
        let local = self.fabric.layout.topology.nic_of(local_rank) as usize;
        (&mut self.nics[local], &mut self.fabric)
    }

    /// Simulates a window of the switches.
    pub fn run_switches(&mut self, window: Range<Ticks>) {
        self.fabric.first_parcel = Ticks::NEVER;
        let mut bins = std::mem::take(&mut self.fabric.scratch.bins);
        for (local, switch) in self.switches.iter_mut().enumerate() {
            let inputs = &mut self.fabric.inputs[local];
            inputs.first = Ticks::NEVER;
            inputs.packets.move_to(&mut bins);
            switch.run(&window, &mut bins, &mut self.fabric);
            self.fabric.scratch.spare.append(&mut bins);
        }
        self.fabric.scratch.bins = bins;
    }

    /// The time of the next event.
    pub fn next(&self) -> Ticks {
        let switches = self.switches.iter().map(Switch::next);
        switches
            .min()
            .unwrap_or(Ticks::NEVER)
            .min(self.fabric.next())
    }

    /// When the last task resumed; `None` if a task will resume, or a call or parcel is due.
    pub fn idle_since(&self) -> Option<Ticks> {
        let scheduler = &self.fabric.scheduler;
        let is_idle = scheduler.resuming == 0 && self.calls.is_empty() && self.bulk.is_empty();
        is_idle.then_some(scheduler.last_resumed)
    }

    /// Moves wake-ups and calls to the events of the present NIC.
    pub fn drain_mailbox(&mut self, mailbox: &Mailbox) {
        let (woken, calls) = mailbox.empty();
        for (at, call) in calls {
            self.next_call = self.next_call.wrapping_add(1);
            let target = self.next_call;
            self.calls.insert(target, call);
            self.add_event(at, EventKind::Call, target);
        }
        let topology = &self.fabric.layout.topology;
        for waiter in woken {
            // Another NIC of the block may have simulated this moment already.
            let nic = topology.nic_of(self.tasks[waiter.task as usize].rank);
            assert_eq!(
                nic as usize, self.fabric.scheduler.nic,
                "ranks behind two NICs share no signal"
            );
            self.fabric.scheduler.resume(waiter, waiter.clock);
        }
    }

    /// Adds an event behind the present NIC, now or later.
    fn add_event(&mut self, at: Ticks, kind: EventKind, target: u32) {
        let time = at.max(self.fabric.scheduler.now);
        self.fabric.scheduler.add(Event {
            time,
            kind,
            target,
            turn: 0,
        });
    }

    /// Adds a task to its rank; two or more share the rank's cores.
    pub fn add_task(&mut self, task: Task) -> u32 {
        let number = self.tasks.len() as u32;
        let state = &mut self.ranks[task.rank as usize];
        state.tasks += 1;
        if state.tasks == 2 {
            let cores = self.fabric.layout.profile.core.cores_per_rank as usize;
            let new = || Box::new(Sharing::new(cores));
            state.sharing.get_or_insert_with(new);
        }
        self.fabric.note(|log| log.add_task(task.rank, task.clock));
        self.tasks.push(task);
        number
    }

    pub fn end_task(&mut self, number: u32) {
        let task = &mut self.tasks[number as usize];
        if std::mem::take(&mut task.holding) {
            let ticks = self.fabric.layout.profile.core.receive_done_cycles;
            task.clock += ticks;
            self.fabric.note(|log| log.received(number, ticks));
        }
        self.fabric.note(|log| log.ended(number, task.clock));
        self.meter.enter(task, None);
        task.waits = Waits::Ended;
        let state = &mut self.ranks[task.rank as usize];
        state.tasks -= 1;
        state.end = state.end.max(task.clock);
    }

    /// The inbox of a port for bulk.
    pub fn inbox(&mut self, mailbox: &Arc<Mailbox>, rank: u32, port: u16) -> Arc<PortInbox> {
        let new = || Arc::new(PortInbox::new(mailbox.signal("a shipment")));
        Arc::clone(self.inboxes.entry((rank, port)).or_insert_with(new))
    }

    /// The disks of a rank: those that it was given, or empty ones.
    pub fn disks_of(&mut self, mailbox: &Arc<Mailbox>, rank: u32) -> Arc<dyn Disks> {
        let new = || -> Arc<dyn Disks> {
            let timeline: Arc<dyn Timeline> = Arc::clone(mailbox) as Arc<dyn Timeline>;
            Arc::new(MemoryDisks::new(&timeline, DiskModel::default()))
        };
        Arc::clone(self.disks.entry(rank).or_insert_with(new))
    }

    /// The waiting tasks and their reasons.
    pub fn waiting(&self) -> Vec<String> {
        let alive = self.tasks.iter().filter(|task| task.waits != Waits::Ended);
        alive
            .map(|task| format!("{} waits for {}", self.name(task), task.waits))
            .collect()
    }

    /// The report of the block for its first `ranks` ranks; the others have no program.
    pub fn report(mut self, ranks: usize) -> Report {
        self.sends
            .sort_unstable_by_key(|sent| (sent.from, sent.time));
        let busiest = |switch: &Switch| switch.busiest_down(&self.fabric);
        let busiest = self.switches.iter().map(busiest);
        let (ticks, flits) = busiest.max_by_key(|(ticks, _)| *ticks).unwrap_or_default();
        let mut report = Report {
            ends: self.ranks[..ranks].iter().map(|rank| rank.end.0).collect(),
            messages: self.ranks[..ranks]
                .iter()
                .map(|rank| (rank.sent, rank.received))
                .collect(),
            counts: Counts {
                busiest_down_flits: flits,
                busiest_down_ticks: ticks.0,
                ..self.fabric.counts
            },
            sends: self.sends,
            tapped: self
                .nics
                .into_iter()
                .flat_map(Nic::tapped)
                .map(|ticks| ticks.0)
                .collect(),
            ..Report::default()
        };
        self.meter.report(&mut report.stages, &mut report.slices);
        report
    }

    fn name(&self, task: &Task) -> String {
        let rank = Rank(self.first_rank + task.rank);
        match &task.name {
            Some(name) => format!("{name} of core {rank}"),
            None => format!("core {rank}"),
        }
    }
}
