//! Remembered values, and how a missing one is computed.
//!
//! A [`Rule`] says how the value under a key comes about; a [`Memo`] remembers it. [`demand`] joins the two: it finds
//! the value, waits while another thread computes it, reports a value that needs itself, or computes it with no lock
//! held. Only successes are remembered.
//!
//! **Deep chains.** A value that needs its predecessor, which needs its own, would nest as deep as the trace is long.
//! Beyond [`DEEPEST`] nested computations a *drive* takes over: a computation that meets a missing value of a rule on
//! the drive's stack ends with [`Error::Deferred`]; the drive computes the missing value first and then runs the
//! computation again. In a scan each function so runs at most twice, and the target is asked the same questions in the
//! same order. A failure is handed to the computation that asked for it, as if it had been computed there.

use crate::error::{Error, Result};
use crate::target::Time;
use crate::world::Shared;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::any::Any;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, Weak};
use std::thread::ThreadId;

/// Nested computations beyond which a drive takes over.
pub(crate) const DEEPEST: usize = 32;

/// What a value is remembered under: a time, and for tree scans the size of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub at: Time,
    pub level: u8,
}

impl Key {
    pub fn at(time: Time) -> Self {
        Key { at: time, level: 0 }
    }
}

/// How values come about.
pub(crate) trait Rule: Send + Sync + 'static {
    type Value: Clone + Send + Sync + 'static;
    /// Computes a value. May run user functions and demand other values. `memo` is where values of this rule are
    /// remembered: lazies refer to it weakly, since the values it holds may hold them.
    fn compute(this: &Arc<Self>, memo: &Arc<Memo<Self::Value>>, key: Key) -> Result<Self::Value>;
}

/// The running targets whose end was met, each with the end it had then. Nothing for finished targets.
type Ends = SmallVec<[(EndOf, Time); 1]>;

#[derive(Clone)]
struct EndOf(Arc<Shared>);

enum Slot<V> {
    Running(ThreadId),
    /// With the ends it depends on: when one has grown, the value is stale.
    Done(V, Option<Arc<Ends>>),
}

struct Table<V> {
    slots: FxHashMap<Key, Slot<V>>,
    /// In the order of computation, if values may have to go.
    order: VecDeque<Key>,
    /// How many threads wait for a change: mostly none, and then nobody is woken, which would be a system call per value.
    waiting: usize,
}

/// Values of one rule.
pub(crate) struct Memo<V> {
    id: u64,
    table: Mutex<Table<V>>,
    changed: Condvar,
    budget: Arc<Budget>,
}

/// What a look into a memo shows.
enum Look<V> {
    Done(V),
    Running(ThreadId),
    Absent,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(0);

impl<V: Clone + Send + Sync + 'static> Memo<V> {
    pub fn new(budget: Arc<Budget>) -> Arc<Self> {
        let memo = Arc::new(Memo {
            id: NEXT_ID.fetch_add(1, Relaxed),
            table: Mutex::new(Table { slots: FxHashMap::default(), order: VecDeque::new(), waiting: 0 }),
            changed: Condvar::new(),
            budget,
        });
        if memo.budget.limited() {
            let weak: Weak<dyn Evict> = Arc::downgrade(&memo) as Weak<dyn Evict>;
            memo.budget.memos.lock().unwrap().push(weak);
        }
        memo
    }

    pub fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// The value, if it is remembered and still holds. Notes the ends it depends on.
    pub fn get(&self, key: Key) -> Option<V> {
        match self.look(key) {
            Look::Done(value) => Some(value),
            _ => None,
        }
    }

    /// Forgets a value.
    pub fn forget(&self, key: Key) {
        let mut table = self.table.lock().unwrap();
        if matches!(table.slots.get(&key), Some(Slot::Done(..))) {
            let gone = table.slots.remove(&key);
            self.budget.used.fetch_sub(1, Relaxed);
            // Dropped without the lock: dropping a value may run user code.
            drop(table);
            drop(gone);
        }
    }

    fn look(&self, key: Key) -> Look<V> {
        let (value, ends) = match self.table.lock().unwrap().slots.get(&key) {
            None => return Look::Absent,
            Some(Slot::Running(thread)) => return Look::Running(*thread),
            Some(Slot::Done(value, None)) => return Look::Done(value.clone()),
            Some(Slot::Done(value, Some(ends))) => (value.clone(), ends.clone()),
        };
        if ends.iter().any(|(world, end)| world.0.end() != *end) {
            self.forget(key);
            return Look::Absent;
        }
        note(&ends);
        Look::Done(value)
    }

    /// Takes an absent slot for this thread.
    fn claim(&self, key: Key) -> bool {
        let mut table = self.table.lock().unwrap();
        let absent = !table.slots.contains_key(&key);
        if absent {
            table.slots.insert(key, Slot::Running(std::thread::current().id()));
        }
        absent
    }

    /// Gives back a slot without a value.
    fn release(&self, key: Key) {
        let mut table = self.table.lock().unwrap();
        let gone = table.slots.remove(&key);
        self.tell(table);
        // Dropped without the lock: dropping a value may run user code.
        drop(gone);
    }

    /// Tells those who wait that a slot has changed.
    fn tell(&self, table: MutexGuard<'_, Table<V>>) {
        let is_awaited = table.waiting > 0;
        drop(table);
        if is_awaited {
            self.changed.notify_all();
        }
    }

    fn fill(&self, key: Key, value: V, ends: Ends) {
        let ends = (!ends.is_empty()).then(|| Arc::new(ends));
        let mut table = self.table.lock().unwrap();
        table.slots.insert(key, Slot::Done(value, ends));
        if self.budget.limited() {
            table.order.push_back(key);
        }
        self.tell(table);
        self.budget.used.fetch_add(1, Relaxed);
        self.budget.enforce();
    }

    /// Waits until another thread has finished with a slot, unless that thread waits for this one.
    fn wait(&self, key: Key, other: ThreadId) -> Result<()> {
        let me = std::thread::current().id();
        {
            let mut waits = waits().lock().unwrap();
            let mut next = Some(other);
            while let Some(thread) = next {
                if thread == me {
                    return Err(Error::SelfDependence(key.at));
                }
                next = waits.get(&thread).copied();
            }
            waits.insert(me, other);
        }
        let mut table = self.table.lock().unwrap();
        table.waiting += 1;
        while matches!(table.slots.get(&key), Some(Slot::Running(thread)) if *thread == other) {
            table = self.changed.wait(table).unwrap();
        }
        table.waiting -= 1;
        drop(table);
        waits().lock().unwrap().remove(&me);
        Ok(())
    }
}

impl<V> Drop for Memo<V> {
    fn drop(&mut self) {
        let table = self.table.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner());
        let done = table.slots.values().filter(|slot| matches!(slot, Slot::Done(..))).count();
        self.budget.used.fetch_sub(done, Relaxed);
    }
}

/// Which thread waits for which.
fn waits() -> &'static Mutex<FxHashMap<ThreadId, ThreadId>> {
    static WAITS: OnceLock<Mutex<FxHashMap<ThreadId, ThreadId>>> = OnceLock::new();
    WAITS.get_or_init(Mutex::default)
}

/// How many values may be remembered over all memos of a world.
pub(crate) struct Budget {
    limit: usize,
    used: AtomicUsize,
    memos: Mutex<Vec<Weak<dyn Evict>>>,
}

trait Evict: Send + Sync {
    fn held(&self) -> usize;
    fn evict_half(&self);
}

impl Budget {
    pub fn new(limit: usize) -> Self {
        Budget { limit, used: AtomicUsize::new(0), memos: Mutex::default() }
    }

    fn limited(&self) -> bool {
        self.limit != usize::MAX
    }

    /// Over the limit the largest memo gives up half of what it may.
    fn enforce(&self) {
        if self.used.load(Relaxed) <= self.limit {
            return;
        }
        let mut memos: Vec<Arc<dyn Evict>> = Vec::new();
        self.memos.lock().unwrap().retain(|weak| match weak.upgrade() {
            Some(memo) => {
                memos.push(memo);
                true
            }
            None => false,
        });
        if let Some(largest) = memos.iter().max_by_key(|memo| memo.held()) {
            largest.evict_half();
        }
    }
}

/// One value in so many stays when memory is short, so that a scan need not start from the beginning again.
const KEPT: u64 = 64;

fn is_kept(key: Key) -> bool {
    (key.at ^ u64::from(key.level)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58 == KEPT - 1
}

impl<V: Send + Sync> Evict for Memo<V> {
    fn held(&self) -> usize {
        self.table.lock().unwrap().order.len()
    }

    fn evict_half(&self) {
        let mut gone = Vec::new();
        {
            let mut table = self.table.lock().unwrap();
            for _ in 0..table.order.len().div_ceil(2) {
                let Some(key) = table.order.pop_front() else { break };
                if !is_kept(key) && matches!(table.slots.get(&key), Some(Slot::Done(..))) {
                    gone.extend(table.slots.remove(&key));
                }
            }
        }
        self.budget.used.fetch_sub(gone.len(), Relaxed);
        // Values are dropped without the lock: dropping may run user code.
        drop(gone);
    }
}

/// A value, by its memo and its key.
type Id = (u64, Key);

/// A computation that can be run and run again.
trait Task {
    fn id(&self) -> Id;
    fn claim(&self) -> bool;
    fn release(&self);
    /// Runs it. The value is remembered and returned; a slot whose computation is deferred stays taken.
    fn attempt(&self) -> Result<Box<dyn Any>>;
}

struct Demand<R: Rule> {
    rule: Arc<R>,
    memo: Arc<Memo<R::Value>>,
    key: Key,
}

impl<R: Rule> Task for Demand<R> {
    fn id(&self) -> Id {
        (self.memo.id, self.key)
    }
    fn claim(&self) -> bool {
        self.memo.claim(self.key)
    }
    fn release(&self) {
        self.memo.release(self.key);
    }
    fn attempt(&self) -> Result<Box<dyn Any>> {
        match run(&self.rule, &self.memo, self.key) {
            Ok(value) => Ok(Box::new(value)),
            Err(error) => {
                if !matches!(error, Error::Deferred) {
                    self.release();
                }
                Err(error)
            }
        }
    }
}

/// A computation on the stack of a drive, with what has been computed for it.
struct Frame {
    task: Rc<dyn Task>,
    answers: Vec<(Id, Result<Box<dyn Any>>)>,
}

/// Computations that wait for one another, the one to run last.
#[derive(Default)]
struct Drive {
    stack: Vec<Frame>,
    /// How often each memo is on the stack.
    memos: FxHashMap<u64, usize>,
}

/// What goes on in one thread.
#[derive(Default)]
struct Thread {
    queries: usize,
    depth: usize,
    drive: Option<Drive>,
    /// What a deferred computation is waiting for.
    missing: Option<Rc<dyn Task>>,
    /// A user function dropped [`Error::Deferred`]: nothing computed since can be trusted.
    swallowed: bool,
    /// The ends met by each computation under way.
    ends: Vec<Ends>,
}

thread_local! {
    static THREAD: RefCell<Thread> = RefCell::default();
}

fn thread<T>(f: impl FnOnce(&mut Thread) -> T) -> T {
    THREAD.with(|thread| f(&mut thread.borrow_mut()))
}

/// Notes that the computation under way met the end of a running target.
pub(crate) fn met_end(world: &Arc<Shared>, end: Time) {
    note(&[(EndOf(world.clone()), end)]);
}

/// Runs something, and says whether its result depends on an end that may still grow.
pub(crate) fn provisional<T>(f: impl FnOnce() -> T) -> (T, bool) {
    thread(|thread| thread.ends.push(Ends::new()));
    let left = Finally(|| {
        let ends = thread(|thread| thread.ends.pop());
        note(&ends.unwrap_or_default());
    });
    let result = f();
    let met = thread(|thread| thread.ends.last().is_some_and(|ends| !ends.is_empty()));
    drop(left);
    (result, met)
}

fn note(ends: &[(EndOf, Time)]) {
    thread(|thread| {
        if let Some(top) = thread.ends.last_mut() {
            for (world, end) in ends {
                if !top.iter().any(|(w, e)| e == end && Arc::ptr_eq(&w.0, &world.0)) {
                    top.push((world.clone(), *end));
                }
            }
        }
    });
}

/// Runs a query of a user. The outermost one reports what a swallowed signal spoiled.
pub(crate) fn query<T>(f: impl FnOnce() -> Result<T>) -> Result<T> {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            thread(|thread| thread.queries -= 1);
        }
    }
    thread(|thread| thread.queries += 1);
    let result = {
        let _leave = Leave;
        f()
    };
    let spoiled = thread(|thread| {
        if thread.queries > 0 || thread.depth > 0 {
            return None;
        }
        let missing = thread.missing.take();
        std::mem::take(&mut thread.swallowed).then_some(missing)
    });
    match spoiled {
        Some(_) => Err(Error::Swallowed),
        None => result,
    }
}

/// The value of a rule under a key.
pub(crate) fn demand<R: Rule>(rule: &Arc<R>, memo: &Arc<Memo<R::Value>>, key: Key) -> Result<R::Value> {
    loop {
        match memo.look(key) {
            Look::Done(value) => return Ok(value),
            Look::Running(thread) => {
                memo.wait(key, thread)?;
                continue;
            }
            Look::Absent => {}
        }
        if let Some(answer) = answered::<R::Value>((memo.id, key)) {
            return answer;
        }
        let task = Demand { rule: rule.clone(), memo: memo.clone(), key };
        if is_deferred(memo.id) {
            let before = thread(|thread| thread.missing.replace(Rc::new(task)));
            drop(before);
            return Err(Error::Deferred);
        }
        if !memo.claim(key) {
            continue;
        }
        let deep = thread(|thread| thread.drive.is_none() && thread.depth >= DEEPEST);
        let value = if deep { drive(Rc::new(task)) } else { direct(&task) }?;
        return Ok(*value.downcast().expect("a task gives a value of its rule"));
    }
}

/// What the drive has already computed for the computation under way.
fn answered<V: Clone + 'static>(id: Id) -> Option<Result<V>> {
    thread(|thread| {
        let frame = thread.drive.as_ref()?.stack.last()?;
        let (_, answer) = frame.answers.iter().find(|(answered, _)| *answered == id)?;
        Some(match answer {
            Ok(value) => Ok(value.downcast_ref::<V>().expect("a memo has one type").clone()),
            Err(error) => Err(error.clone()),
        })
    })
}

/// Under a drive its own rules are deferred, and so is everything that nests too deep.
fn is_deferred(memo: u64) -> bool {
    thread(|thread| match &thread.drive {
        Some(drive) => drive.memos.contains_key(&memo) || thread.depth >= 2 * DEEPEST,
        None => false,
    })
}

/// Computes a value for a slot that this thread has taken, and remembers it.
fn run<R: Rule>(rule: &Arc<R>, memo: &Arc<Memo<R::Value>>, key: Key) -> Result<R::Value> {
    thread(|thread| {
        thread.depth += 1;
        thread.ends.push(Ends::new());
    });
    let panicked = Finally(|| {
        thread(|thread| {
            thread.depth -= 1;
            thread.ends.pop()
        });
        memo.release(key);
    });
    let result = R::compute(rule, memo, key);
    std::mem::forget(panicked);
    let (ends, swallowed) = thread(|thread| {
        thread.depth -= 1;
        thread.swallowed |= thread.missing.is_some() && !matches!(result, Err(Error::Deferred));
        (thread.ends.pop().expect("pushed above"), thread.swallowed)
    });
    note(&ends);
    if swallowed {
        return Err(Error::Swallowed);
    }
    let value = result?;
    memo.fill(key, value.clone(), ends);
    Ok(value)
}

/// Runs its function when it is dropped; forgotten where all went well.
struct Finally<F: FnMut()>(F);

impl<F: FnMut()> Drop for Finally<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Computes in place.
fn direct(task: &dyn Task) -> Result<Box<dyn Any>> {
    let value = task.attempt();
    if matches!(value, Err(Error::Deferred)) {
        task.release();
    }
    value
}

/// Computes with a stack of its own.
fn drive(first: Rc<dyn Task>) -> Result<Box<dyn Any>> {
    thread(|thread| thread.drive = Some(Drive::default()));
    let _end = Finally(end_drive);
    push(first.clone());
    let mut task = first;
    loop {
        let outcome = task.attempt();
        let missing = match &outcome {
            Err(Error::Deferred) => thread(|thread| thread.missing.take()),
            _ => None,
        };
        if let Some(missing) = missing {
            // If another thread was faster, the task that waits finds its value.
            if missing.claim() {
                push(missing.clone());
                task = missing;
            }
            continue;
        }
        pop(&*task);
        let next = thread(|thread| thread.drive.as_ref()?.stack.last().map(|frame| frame.task.clone()));
        match (&outcome, next) {
            (Err(Error::Interrupted | Error::Swallowed), _) | (_, None) => return outcome,
            (_, Some(next)) => {
                let answer = (task.id(), outcome);
                thread(|thread| {
                    let frame = thread.drive.as_mut().and_then(|drive| drive.stack.last_mut());
                    frame.expect("next is on it").answers.push(answer);
                });
                task = next;
            }
        }
    }
}

fn push(task: Rc<dyn Task>) {
    thread(|thread| {
        let drive = thread.drive.as_mut().expect("a drive runs");
        *drive.memos.entry(task.id().0).or_default() += 1;
        drive.stack.push(Frame { task, answers: Vec::new() });
    });
}

fn pop(task: &dyn Task) {
    let frame = thread(|thread| {
        let drive = thread.drive.as_mut().expect("a drive runs");
        let memo = task.id().0;
        if let Some(count) = drive.memos.get_mut(&memo) {
            *count -= 1;
            if *count == 0 {
                drive.memos.remove(&memo);
            }
        }
        drive.stack.pop()
    });
    // Dropped here, where nothing is borrowed: what it holds may run user code.
    drop(frame);
}

/// Gives back the slots of computations that are abandoned.
fn end_drive() {
    let drive = thread(|thread| thread.drive.take());
    for frame in drive.into_iter().flat_map(|drive| drive.stack).rev() {
        frame.task.release();
    }
}
