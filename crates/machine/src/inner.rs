//! What a block holds, but for the futures of its tasks: so a task that runs can change it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use node::Rank;
use node::backend::{Disks, PortInbox, Start};

use crate::bulk::{Bulk, Parcel};
use crate::disk::{DiskModel, MemoryDisks};
use crate::medium::{Fabric, Medium};
use crate::meter::Meter;
use crate::nic::Nic;
use crate::packet::{Kind, Packet};
use crate::rank::{RankState, Ready};
use crate::report::{Counts, Report};
use crate::slab::Place;
use crate::switch::Switch;
use crate::task::{Task, Waits};
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
    first_switch: u32,
    pub switches: Vec<Switch>,
    first_nic: u32,
    pub nics: Vec<Nic>,
    pub first_rank: u32,
    pub ranks: Vec<RankState>,
    pub tasks: Vec<Task>,
    pub meter: Meter,
    /// Tasks that were spawned and have no future yet.
    pub starts: Vec<(u32, Start)>,
    pub bulk: Bulk,
    pub inboxes: BTreeMap<(u32, u16), Arc<PortInbox>>,
    /// Disks of the ranks that asked for them or were given some.
    pub disks: BTreeMap<u32, Arc<dyn Disks>>,
    calls: BTreeMap<u32, Call>,
    next_call: u32,
}

/// An event that the state alone does not deal with.
pub enum Outside {
    Nothing,
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
        let every = if setting.traced > 0 { setting.ranks.div_ceil(setting.traced) } else { 0 };
        Inner {
            medium: Medium::new(fabric, block),
            first_switch,
            switches: (first_switch..until_switch)
                .map(|switch| Switch::new(switch, fabric))
                .collect(),
            first_nic,
            nics: (first_nic..until_nic).map(|nic| Nic::new(nic, nic * each)).collect(),
            first_rank,
            ranks: (0..cores).map(|_| RankState::default()).collect(),
            tasks: Vec::new(),
            meter: Meter::new(first_rank, cores, every),
            starts: Vec::new(),
            bulk: Bulk::default(),
            inboxes: BTreeMap::new(),
            disks: BTreeMap::new(),
            calls: BTreeMap::new(),
            next_call: 0,
        }
    }

    /// Deals with what happens at a moment.
    pub fn happen(&mut self, place: Place) -> Outside {
        let packet = &self.medium.slab[place];
        self.medium.counts.events += 1;
        let (kind, to) = (packet.kind, packet.to);
        match kind {
            Kind::Resume => {
                let event = self.medium.slab.take(place);
                self.medium.resuming -= 1;
                self.medium.last_resumed = self.medium.now;
                return Outside::Resume { task: to, turn: event.sequence, core: None };
            }
            Kind::CoreFree => {
                self.medium.slab.take(place);
                self.medium.resuming -= 1;
                return self.give_core(to);
            }
            Kind::Call => {
                self.medium.slab.take(place);
                return self.calls.remove(&to).map_or(Outside::Nothing, Outside::Call);
            }
            Kind::Parcel => {
                let event = self.medium.slab.take(place);
                return Outside::Parcel(self.bulk.arrived(&event));
            }
            Kind::Transmit | Kind::Timer | Kind::PullTimer | Kind::Unblock => {
                self.medium.slab.take(place);
                let (nic, ranks, medium) = self.nic(to);
                match kind {
                    Kind::Transmit => nic.transmit(ranks, medium),
                    Kind::Timer => nic.look_for_late(medium),
                    Kind::PullTimer => nic.pull_if_idle(medium),
                    _ => nic.unblock(ranks, medium),
                }
            }
            _ => {
                let number = self.medium.fabric.topology.nic_of(to);
                let (nic, ranks, medium) = self.nic(number);
                nic.arrive(place, ranks, medium);
            }
        }
        Outside::Nothing
    }

    /// A NIC, its ranks, and what they work through.
    pub fn nic(&mut self, number: u32) -> (&mut Nic, &mut [RankState], &mut Medium) {
        let local = (number - self.first_nic) as usize;
        let each = self.medium.fabric.topology.ranks_per_nic as usize;
        let ranks = &mut self.ranks[local * each..(local + 1) * each];
        (&mut self.nics[local], ranks, &mut self.medium)
    }

    /// The NIC of a rank of this block.
    pub fn nic_number(&self, local_rank: u32) -> u32 {
        self.medium.fabric.topology.nic_of(self.first_rank + local_rank)
    }

    /// Lets the switches work through what arrives in a window.
    pub fn run_switches(&mut self, begin: u64, until: u64) {
        let inward = std::mem::take(&mut self.medium.inward);
        match &mut self.switches[..] {
            [switch] => switch.expect(inward),
            switches => {
                let mut inward = inward;
                let at = |packet: &Option<Packet>| packet.as_ref().map_or(0, |packet| packet.at);
                inward.sort_by_key(at);
                for packets in inward.chunk_by(|one, other| at(one) == at(other)) {
                    let local = u32::from(at(&packets[0])) - self.first_switch;
                    switches[local as usize].expect(packets.to_vec());
                }
            }
        }
        for switch in &mut self.switches {
            switch.run(begin, until, &mut self.medium);
        }
    }

    /// Lets begin at the NICs' egress ports what can begin before `until`.
    pub fn drain_nics(&mut self, until: u64) {
        let mut leaving = std::mem::take(&mut self.medium.leaving);
        leaving.retain(|&nic| {
            self.nics[(nic - self.first_nic) as usize].drain(until, &mut self.medium)
        });
        self.medium.leaving = leaving;
    }

    /// When something happens next, if the last window ended at `until`.
    pub fn next(&self, until: u64) -> u64 {
        let leaving = if self.medium.leaving.is_empty() { u64::MAX } else { until };
        let switches = self.switches.iter().map(|switch| switch.next(until));
        let switches = switches.min().unwrap_or(u64::MAX);
        self.medium.ring.next().min(leaving).min(switches).min(self.medium.first_out)
    }

    /// Since when no task went on; none while one is to go on, or something else than messages is
    /// to come.
    pub fn still_since(&self) -> Option<u64> {
        let is_still = self.medium.resuming == 0 && self.calls.is_empty() && self.bulk.is_empty();
        is_still.then_some(self.medium.last_resumed)
    }

    /// Adds what lies on the desk to the ring.
    pub fn clear_desk(&mut self, desk: &Desk) {
        let (woken, calls) = desk.empty();
        for waiter in woken {
            waiter.resume(waiter.clock, &mut self.medium);
        }
        for (at, call) in calls {
            self.next_call = self.next_call.wrapping_add(1);
            self.calls.insert(self.next_call, call);
            self.medium.event(Kind::Call, at, self.next_call);
        }
    }

    /// Whether a task can run now: on which core, if its rank has several tasks. One that finds no
    /// core, or others before it, waits for its turn.
    pub fn core_for(&mut self, task: u32, given: Option<usize>, now: u64) -> Option<Option<usize>> {
        let (rank, priority) = (self.tasks[task as usize].rank, self.tasks[task as usize].priority);
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
            state.ready.push(Ready { priority, since: now, task });
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
        self.medium.resuming += 1;
        self.medium.event(Kind::CoreFree, free, rank);
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
            Outside::Resume { task: ready.task, turn, core }
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
        alive.map(|task| format!("{} waits for {}", self.name(task), task.waits)).collect()
    }

    /// What the block counted, for its first so many ranks.
    pub fn report(self, ranks: usize) -> Report {
        let busiest = self.switches.iter().map(Switch::busiest_down_flits);
        let busiest_down_flits = busiest.max().unwrap_or(0);
        let mut report = Report {
            ends: self.ranks[..ranks].iter().map(|rank| rank.end).collect(),
            counts: Counts { busiest_down_flits, ..self.medium.counts },
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
