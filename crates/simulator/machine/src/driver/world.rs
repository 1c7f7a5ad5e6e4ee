//! The state that all tasks of a driver share: time, ready tasks, and events.

use std::collections::{BTreeMap, BinaryHeap};
use std::sync::{Arc, MutexGuard};

use node::backend::{PortInbox, Signal, Start};
use node::{Address, Mutex, Random, Time};

use crate::driver::links::Links;
use crate::driver::processors::Processors;
use disk::{Call, Timeline};

/// A nanosecond per tick.
pub(crate) const TICK_FS: u64 = 1_000_000;

pub(crate) type TaskId = usize;

/// A wake-up, which is stale if the task has been resumed since.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wake {
    pub task: TaskId,
    pub turn: u64,
}

/// The effect of an event.
pub(crate) enum Action {
    Wake(Wake),
    Call(Call),
    /// See [`World::set_alarm`].
    Alarm,
}

struct Event {
    at: Time,
    /// Orders events of one moment: 0 for those that keep their order, random for the others.
    tie: u64,
    sequence: u64,
    action: Action,
}

impl Ord for Event {
    /// By time, tie and sequence number; reversed, for a max-heap.
    fn cmp(&self, other: &Event) -> std::cmp::Ordering {
        let key = |event: &Event| (event.at, event.tie, event.sequence);
        key(other).cmp(&key(self))
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Event) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Event {
    fn eq(&self, other: &Event) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Event {}

/// A task without its future.
pub(crate) struct TaskState {
    rank: u32,
    pub name: String,
    pub turn: u64,
    pub waits_for: &'static str,
    pub alive: bool,
}

pub(crate) struct World {
    state: Mutex<State>,
    /// Tasks that signals have woken; not in the state, so that an action may advance a signal.
    woken: Arc<Mutex<Vec<Wake>>>,
    pub links: Links,
    pub processors: Processors,
}

struct State {
    now: Time,
    sequence: u64,
    events: BinaryHeap<Event>,
    alarm: Option<Time>,
    ready: Vec<TaskId>,
    tasks: Vec<TaskState>,
    starts: Vec<(TaskId, u32, Start)>,
    inboxes: BTreeMap<Address, Arc<PortInbox>>,
    random: Random,
    /// Whether tasks never yield by chance.
    goes_on: bool,
}

/// The next step of the driver.
pub(crate) enum Step {
    Start(TaskId, u32, Start),
    Resume(TaskId),
    Act(Action),
    Nothing,
}

impl World {
    pub(crate) fn new(seed: u64) -> World {
        let state = State {
            now: Time(0),
            sequence: 0,
            events: BinaryHeap::new(),
            alarm: None,
            ready: Vec::new(),
            tasks: Vec::new(),
            starts: Vec::new(),
            inboxes: BTreeMap::new(),
            random: Random::new(seed),
            goes_on: false,
        };
        World {
            state: Mutex::new(state),
            woken: Arc::default(),
            links: Links::new(seed),
            processors: Processors::default(),
        }
    }

    pub(crate) fn now(&self) -> Time {
        self.lock().now
    }

    /// True once in four: enough yields for many schedules, and few enough for progress.
    pub(crate) fn flips_to_yield(&self) -> bool {
        let mut state = self.lock();
        !state.goes_on && state.random.below(4) == 0
    }

    /// Lets tasks go on where they do not wait.
    pub(crate) fn go_on(&self) {
        self.lock().goes_on = true;
    }

    pub(crate) fn turn(&self, task: TaskId) -> u64 {
        self.lock().tasks[task].turn
    }

    pub(crate) fn schedule(&self, at: Time, action: Action) {
        self.lock().schedule(at, 0, action);
    }

    /// As [`World::schedule`], but in random order within one moment, as a disk orders requests in
    /// flight.
    fn schedule_unordered(&self, at: Time, action: Action) {
        let mut state = self.lock();
        let tie = state.random.next_u64();
        state.schedule(at, tie, action);
    }

    /// Sets the one alarm, which goes off behind all else of its moment, or takes it back.
    pub(crate) fn set_alarm(&self, at: Option<Time>) {
        self.lock().alarm = at;
    }

    pub(crate) fn make_ready(&self, task: TaskId) {
        self.lock().ready.push(task);
    }

    pub(crate) fn waits_for(&self, task: TaskId, what: &'static str) {
        self.lock().tasks[task].waits_for = what;
    }

    pub(crate) fn add_task(&self, name: String, rank: u32, start: Start) {
        let mut state = self.lock();
        let id = state.tasks.len();
        state.tasks.push(TaskState {
            rank,
            name,
            turn: 0,
            waits_for: "its start",
            alive: true,
        });
        state.starts.push((id, rank, start));
    }

    pub(crate) fn end_task(&self, task: TaskId) {
        self.lock().tasks[task].alive = false;
    }

    /// Forgets the messages and events of the last run, and repairs links.
    pub(crate) fn begin(&self) {
        self.links.heal();
        self.processors.begin();
        let mut state = self.lock();
        state.alarm = None;
        let left = (
            std::mem::take(&mut state.events),
            std::mem::take(&mut state.inboxes),
        );
        drop(state);
        drop(left);
    }

    /// Ends all tasks of a node, and empties its inboxes; returns the tasks.
    pub(crate) fn kill(&self, rank: u32) -> Vec<TaskId> {
        self.links.kill(rank);
        let mut state = self.lock();
        let state = &mut *state;
        let mut killed = Vec::new();
        for (id, task) in state.tasks.iter_mut().enumerate() {
            if task.rank == rank && std::mem::replace(&mut task.alive, false) {
                killed.push(id);
            }
        }
        state.ready.retain(|&task| state.tasks[task].alive);
        state.starts.retain(|&(task, ..)| state.tasks[task].alive);
        state.inboxes.retain(|at, _| at.rank.0 != rank);
        killed
    }

    pub(crate) fn signal(&self, label: &'static str) -> Arc<dyn Signal> {
        Arc::new(DriverSignal {
            label,
            epoch: Mutex::default(),
            woken: Arc::clone(&self.woken),
        })
    }

    pub(crate) fn inbox(&self, at: Address) -> Arc<PortInbox> {
        let signal = self.signal("message");
        let mut state = self.lock();
        Arc::clone(
            state
                .inboxes
                .entry(at)
                .or_insert_with(|| Arc::new(PortInbox::new(signal))),
        )
    }

    /// The waiting tasks and their reasons.
    pub(crate) fn waiting(&self) -> Vec<String> {
        let state = self.lock();
        let alive = state.tasks.iter().filter(|task| task.alive);
        alive
            .map(|task| format!("{} waits for {}", task.name, task.waits_for))
            .collect()
    }

    /// Chooses among the ready tasks and due events, or advances the time to the next event.
    pub(crate) fn step(&self) -> Step {
        let woken = std::mem::take(&mut *self.woken.lock());
        let mut state = self.lock();
        for wake in woken {
            state.wake(wake);
        }
        if let Some((task, rank, start)) = state.starts.pop() {
            return Step::Start(task, rank, start);
        }
        state.drop_stale();
        let next = state.events.peek();
        let due = next.is_some_and(|event| event.at <= state.now);
        let choices = state.ready.len() + usize::from(due);
        if choices == 0 {
            return state.advance();
        }
        let choice = state.random.below(choices);
        if choice == state.ready.len() {
            return state.advance();
        }
        let task = state.ready.swap_remove(choice);
        state.tasks[task].turn += 1;
        Step::Resume(task)
    }

    /// Wakes a task whose time has come.
    pub(crate) fn wake(&self, wake: Wake) {
        self.lock().wake(wake);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl Timeline for World {
    fn now(&self) -> Time {
        World::now(self)
    }

    fn tick_fs(&self) -> u64 {
        TICK_FS
    }

    fn call_at(&self, at: Time, call: Call) {
        self.schedule(at, Action::Call(call));
    }

    fn call_in_any_order(&self, at: Time, call: Call) {
        self.schedule_unordered(at, Action::Call(call));
    }
}

impl State {
    fn schedule(&mut self, at: Time, tie: u64, action: Action) {
        let sequence = self.sequence;
        self.sequence += 1;
        let at = at.max(self.now);
        self.events.push(Event {
            at,
            tie,
            sequence,
            action,
        });
    }

    fn wake(&mut self, wake: Wake) {
        if !self.is_stale(wake) {
            // The turn moves on, so a second wake-up for the same wait is stale.
            self.tasks[wake.task].turn += 1;
            self.ready.push(wake.task);
        }
    }

    /// Drops stale wake-ups, which must neither advance the time nor count as due events.
    fn drop_stale(&mut self) {
        while let Some(event) = self.events.peek()
            && self.is_stale_event(event)
        {
            self.events.pop();
        }
    }

    fn advance(&mut self) -> Step {
        let next = self.events.peek().map(|event| event.at);
        if let Some(alarm) = self
            .alarm
            .filter(|&alarm| next.is_none_or(|next| alarm < next))
        {
            self.alarm = None;
            self.now = self.now.max(alarm);
            return Step::Act(Action::Alarm);
        }
        let Some(event) = self.events.pop() else {
            return Step::Nothing;
        };
        self.now = self.now.max(event.at);
        Step::Act(event.action)
    }

    fn is_stale_event(&self, event: &Event) -> bool {
        matches!(event.action, Action::Wake(wake) if self.is_stale(wake))
    }

    fn is_stale(&self, wake: Wake) -> bool {
        let task = &self.tasks[wake.task];
        !task.alive || task.turn != wake.turn
    }
}

/// A signal of the driver; its waiters resume in an order that the seed decides.
pub(crate) struct DriverSignal {
    pub label: &'static str,
    epoch: Mutex<(u64, Vec<Wake>)>,
    woken: Arc<Mutex<Vec<Wake>>>,
}

impl DriverSignal {
    pub(crate) fn subscribe(&self, wake: Wake) {
        self.epoch.lock().1.push(wake);
    }
}

impl Signal for DriverSignal {
    fn epoch(&self) -> u64 {
        self.epoch.lock().0
    }

    fn advance(&self) {
        let mut epoch = self.epoch.lock();
        epoch.0 += 1;
        self.woken.lock().append(&mut epoch.1);
    }
}
