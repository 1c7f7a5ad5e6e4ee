//! What a block holds, but for the futures of its tasks: so a task that runs can change it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use node::Rank;
use node::backend::{Disks, PortInbox, Start};

use crate::cores::events::{Event, What};
use crate::cores::meter::Meter;
use crate::cores::rank::{RankState, Ready};
use crate::cores::task::{Task, Waits};
use crate::disk::{DiskModel, MemoryDisks};
use crate::engine::bulk::{Bulk, Parcel};
use crate::engine::medium::{Fabric, Medium};
use crate::network::slab::fetch;
use crate::network::switch::Switch;
use crate::nic::Nic;
use crate::report::{Counts, Report, Sent};
use crate::timeline::{Call, Desk, Timeline};

/// What the tasks of a block share.
pub struct Shared {
    pub fabric: Arc<Fabric>,
    pub desk: Arc<Desk>,
    pub inner: RefCell<Inner>,
}

/// The state of a block.
pub struct Inner {
    pub medium: Medium,
    switches: Vec<Switch>,
    nics: Vec<Nic>,
    pub first_rank: u32,
    pub ranks: Vec<RankState>,
    pub tasks: Vec<Task>,
    pub meter: Meter,
    pub sends: Vec<Sent>,
    /// Tasks that were spawned and have no future yet.
    pub starts: Vec<(u32, Start)>,
    pub bulk: Bulk,
    pub inboxes: BTreeMap<(u32, u16), Arc<PortInbox>>,
    /// Disks of the ranks that asked for them or were given some.
    pub disks: BTreeMap<u32, Arc<dyn Disks>>,
    calls: BTreeMap<u32, Call>,
    next_call: u32,
}

/// What happened at a NIC, if the state alone does not deal with it.
pub enum Outside {
    Nothing,
    /// Nothing happens there any more in this window.
    Over,
    /// A task goes on, on a core that it was given or on one that is free.
    Resume {
        task: u32,
        turn: u32,
        core: Option<usize>,
    },
    Call(Call),
    Parcel(Parcel),
}

impl Inner {
    pub fn new(fabric: &Arc<Fabric>, block: u32) -> Inner {
        let topology = &fabric.topology;
        let (first_switch, until_switch) = fabric.switches_of(block);
        let (first_nic, until_nic) = fabric.nics_of(block);
        let each = topology.ranks_per_nic;
        let first_rank = (first_nic * each).min(topology.ranks);
        // Every NIC has all its cores; those beyond the last rank run nothing.
        let cores = ((until_nic - first_nic) * each) as usize;
        let setting = &fabric.setting;
        let medium = Medium::new(fabric, block);
        let switch = |number| Switch::new(number, (number - first_switch) as usize, &medium);
        let nic = |number| Nic::new(number, &medium);
        Inner {
            switches: (first_switch..until_switch).map(switch).collect(),
            nics: (first_nic..until_nic).map(nic).collect(),
            medium,
            first_rank,
            ranks: (0..cores).map(|_| RankState::default()).collect(),
            tasks: Vec::new(),
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

    /// Deals with what happens at a NIC before `until`, up to what the state alone does not deal
    /// with. At one moment packets arrive first, then the NIC does what it has to, then its tasks
    /// go on.
    pub fn run_nic(&mut self, local: usize, until: u64) -> Outside {
        let medium = &mut self.medium;
        medium.here = local;
        let each = medium.fabric.topology.ranks_per_nic as usize;
        let nic = &mut self.nics[local];
        let ranks = &mut self.ranks[local * each..(local + 1) * each];
        loop {
            let arrival = medium.arrivals[local].front(&medium.bench.slab);
            let arrival = arrival.map_or(u64::MAX, |next| next.time);
            let (own, event) = (nic.next(), medium.events[local].next());
            let next = arrival.min(own).min(event);
            if next >= until {
                medium.wake[local] = next.min(nic.drain(until, medium));
                return Outside::Over;
            }
            medium.now = next;
            medium.counts.events += 1;
            if arrival == next
                && let Some(place) = medium.arrivals[local].pop(&medium.bench.slab)
            {
                medium.arrivals[local]
                    .front(&medium.bench.slab)
                    .into_iter()
                    .for_each(fetch);
                nic.arrive(place, ranks, medium);
            } else if own == next {
                nic.act(ranks, medium);
            } else if let Some(event) = medium.events[local].pop() {
                return self.happen(event);
            }
        }
    }

    fn happen(&mut self, event: Event) -> Outside {
        match event.what {
            What::Resume => {
                self.medium.resuming -= 1;
                self.medium.last_resumed = self.medium.now;
                Outside::Resume {
                    task: event.whom,
                    turn: event.turn,
                    core: None,
                }
            }
            What::CoreFree => {
                self.medium.resuming -= 1;
                self.give_core(event.whom)
            }
            What::Call => self
                .calls
                .remove(&event.whom)
                .map_or(Outside::Nothing, Outside::Call),
            What::Parcel => Outside::Parcel(self.bulk.arrived(event.whom)),
        }
    }

    /// What is added to the time of the block from here on is about this rank's NIC.
    pub fn go_to(&mut self, local_rank: u32) {
        self.medium.here = self.medium.fabric.topology.nic_of(local_rank) as usize;
    }

    /// A parcel will arrive at its time.
    pub fn expect(&mut self, time: u64, parcel: Parcel) {
        self.go_to(parcel.to().0 - self.first_rank);
        let whom = self.bulk.expect(parcel);
        self.medium.event(Event {
            time,
            what: What::Parcel,
            whom,
            turn: 0,
        });
    }

    /// The NIC of a rank of this block, and what it works through.
    pub fn nic(&mut self, local_rank: u32) -> (&mut Nic, &mut Medium) {
        let local = self.medium.fabric.topology.nic_of(local_rank) as usize;
        (&mut self.nics[local], &mut self.medium)
    }

    /// Lets the switches work through what arrives in a window.
    pub fn run_switches(&mut self, window: Range<u64>) {
        self.medium.first_out = u64::MAX;
        let mut bins = std::mem::take(&mut self.medium.incoming);
        for (local, switch) in self.switches.iter_mut().enumerate() {
            std::mem::take(&mut self.medium.inward[local])
                .packets
                .move_to(&mut bins);
            switch.run(&window, &mut bins, &mut self.medium);
            self.medium.bench.spare.append(&mut bins);
        }
        self.medium.incoming = bins;
    }

    /// When something happens next.
    pub fn next(&self) -> u64 {
        let switches = self.switches.iter().map(Switch::next);
        switches.min().unwrap_or(u64::MAX).min(self.medium.next())
    }

    /// Since when no task went on; none while one is to go on, or something else than messages is
    /// to come.
    pub fn still_since(&self) -> Option<u64> {
        let is_still = self.medium.resuming == 0 && self.calls.is_empty() && self.bulk.is_empty();
        is_still.then_some(self.medium.last_resumed)
    }

    /// Adds what lies on the desk to the events of the NIC that is being run.
    pub fn clear_desk(&mut self, desk: &Desk) {
        let (woken, calls) = desk.empty();
        for (at, call) in calls {
            self.next_call = self.next_call.wrapping_add(1);
            let whom = self.next_call;
            self.calls.insert(whom, call);
            let time = at.max(self.medium.now);
            self.medium.event(Event {
                time,
                what: What::Call,
                whom,
                turn: 0,
            });
        }
        for waiter in woken {
            // Another NIC of the block may have gone through this moment already.
            let nic = self
                .medium
                .fabric
                .topology
                .nic_of(self.tasks[waiter.task as usize].rank);
            assert_eq!(
                nic as usize, self.medium.here,
                "ranks behind two NICs share no signal"
            );
            waiter.resume(waiter.clock, &mut self.medium);
        }
    }

    /// Whether a task can run now: on which core, if its rank has several tasks. One that finds no
    /// core, or others before it, waits for its turn.
    pub fn core_for(&mut self, task: u32, given: Option<usize>, now: u64) -> Option<Option<usize>> {
        let (rank, priority) = (
            self.tasks[task as usize].rank,
            self.tasks[task as usize].priority,
        );
        let state = &mut self.ranks[rank as usize];
        if state.cores.is_empty() || given.is_some() {
            return Some(given);
        }
        if state.ready.is_empty()
            && let Some(core) = state.free_core(now)
        {
            return Some(Some(core));
        }
        if state.ready.iter().all(|ready| ready.task != task) {
            state.ready.push(Ready {
                priority,
                since: now,
                task,
            });
        }
        let free = state.next_free_core();
        self.ask_for_core(rank, free);
        None
    }

    /// A task has run up to its clock; until then its core is busy.
    pub fn leave_core(&mut self, task: u32, core: Option<usize>) {
        let task = &self.tasks[task as usize];
        // What it sent leaves at its clock: until then nothing stands still.
        self.medium.last_resumed = self.medium.last_resumed.max(task.clock);
        let cores = &mut self.ranks[task.rank as usize].cores;
        // A rank's first task ran without a number for its core, and may have spawned another.
        if let Some(free) = cores.get_mut(core.unwrap_or(0)) {
            *free = task.clock;
        }
    }

    fn ask_for_core(&mut self, rank: u32, free: u64) {
        let time = free.max(self.medium.now);
        self.medium.resuming += 1;
        self.medium.event(Event {
            time,
            what: What::CoreFree,
            whom: rank,
            turn: 0,
        });
    }

    /// A core of a rank may be free: the most urgent of its ready tasks goes on.
    fn give_core(&mut self, rank: u32) -> Outside {
        let now = self.medium.now;
        let state = &mut self.ranks[rank as usize];
        let core = state.free_core(now);
        let chosen = core.and_then(|_| state.most_urgent());
        if !state.ready.is_empty() {
            // What the chosen one does with its core is known when it has run.
            let free = state.next_free_core().max(now + 1);
            self.ask_for_core(rank, free);
        }
        chosen.map_or(Outside::Nothing, |ready| {
            let turn = self.tasks[ready.task as usize].turn;
            Outside::Resume {
                task: ready.task,
                turn,
                core,
            }
        })
    }

    /// A rank has one more task: from two on they share its cores.
    pub fn add_task(&mut self, task: Task) -> u32 {
        let number = self.tasks.len() as u32;
        let state = &mut self.ranks[task.rank as usize];
        state.tasks += 1;
        if state.tasks == 2 && state.cores.is_empty() {
            let cores = self.medium.fabric.profile.core.per_rank as usize;
            state.cores = vec![0; cores];
        }
        self.tasks.push(task);
        number
    }

    /// A task has ended.
    pub fn end_task(&mut self, number: u32) {
        let task = &mut self.tasks[number as usize];
        if std::mem::take(&mut task.holding) {
            task.clock += self.medium.fabric.profile.core.receive_done;
        }
        self.meter.enter(task, None);
        task.waits = Waits::Ended;
        let state = &mut self.ranks[task.rank as usize];
        state.tasks -= 1;
        state.end = state.end.max(task.clock);
    }

    /// A port's mailbox for bulk.
    pub fn inbox(&mut self, desk: &Arc<Desk>, rank: u32, port: u16) -> Arc<PortInbox> {
        let new = || Arc::new(PortInbox::new(desk.signal("a shipment")));
        Arc::clone(self.inboxes.entry((rank, port)).or_insert_with(new))
    }

    /// A rank's disks: those it was given, or empty ones.
    pub fn disks_of(&mut self, desk: &Arc<Desk>, rank: u32) -> Arc<dyn Disks> {
        let new = || -> Arc<dyn Disks> {
            let timeline: Arc<dyn Timeline> = Arc::clone(desk) as Arc<dyn Timeline>;
            Arc::new(MemoryDisks::new(&timeline, DiskModel::default()))
        };
        Arc::clone(self.disks.entry(rank).or_insert_with(new))
    }

    /// Tasks that wait, with what for.
    pub fn waiting(&self) -> Vec<String> {
        let alive = self.tasks.iter().filter(|task| task.waits != Waits::Ended);
        alive
            .map(|task| format!("{} waits for {}", self.name(task), task.waits))
            .collect()
    }

    /// What the block counted, for its first so many ranks.
    pub fn report(mut self, ranks: usize) -> Report {
        self.sends
            .sort_unstable_by_key(|sent| (sent.from, sent.time));
        let busiest = self.switches.iter().map(Switch::busiest_down_flits);
        let busiest_down_flits = busiest.max().unwrap_or(0);
        let mut report = Report {
            ends: self.ranks[..ranks].iter().map(|rank| rank.end).collect(),
            counts: Counts {
                busiest_down_flits,
                ..self.medium.counts
            },
            sends: self.sends,
            tapped: self.nics.into_iter().flat_map(|nic| nic.tapped).collect(),
            ..Report::default()
        };
        self.meter.tell(&mut report.stages, &mut report.slices);
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
