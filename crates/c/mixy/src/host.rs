//! The host of a symbolic block: the explorer's, with what typed code knows of the memory a block starts with.
//!
//! An input pointer may be null where its cell's bit says so, and may be what the pointer analysis says. Every machine
//! object stands for a set of abstract objects, and so brings back what the block leaves in it.

use crate::finding::Kind;
use crate::footprint::Footprint;
use crate::graph::Var;
use crate::mix::{Actual, Mistake};
use crate::region::Program;
use parallax_cexplore::explore::Explorer;
use parallax_cmachine::{
    Candidate, Checks, FileName, FileStatus, Form, InputBounds, Inputs, Kind as ObjectSort, ObjectId, Oracle,
    Origin, Path, Problem, Relation, Reporter, Request, Spots, State, Steps, System, Token, TokenId, strip,
};
use parallax_cmodule::{FunctionId, GlobalId, LocationId, VariableId};
use parallax_op::{Bits, Width};
use parallax_path::{Bound, Premise, Split};
use parallax_points::{ANYWHERE, ObjectId as Abstract, ObjectKind, Site, Value};
use parallax_sem::Symbolic;
use parallax_term::{Formula, FuncExpr, Term};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

type Sym<'s> = Symbolic<'s>;

/// Abstract objects by what makes them: a variable, or a place in a function.
#[derive(Default)]
pub(crate) struct Makers {
    variables: FxHashMap<VariableId, Vec<Abstract>>,
    places: FxHashMap<(FunctionId, LocationId), Vec<Abstract>>,
}

impl Makers {
    pub(crate) fn of(program: &Program<'_>) -> Makers {
        let mut makers = Makers::default();
        for (id, object) in program.points.objects() {
            let site = match object.kind {
                ObjectKind::Stack(site) | ObjectKind::Heap(site, _) => site,
                _ => continue,
            };
            let block = &program.module.function(site.function).blocks[site.block.0 as usize];
            let instruction = &block.instructions[site.index as usize];
            if let parallax_cmodule::Operation::Alloca { variable: Some(variable), .. } =
                instruction.operation
            {
                makers.variables.entry(variable).or_default().push(id);
            }
            makers.places.entry((site.function, instruction.location)).or_default().push(id);
        }
        // Executed, a function that only allocates makes what any of its calls makes.
        for (site, objects) in &program.points.flows.made {
            let block = &program.module.function(site.function).blocks[site.block.0 as usize];
            let location = block.instructions[site.index as usize].location;
            makers.places.entry((site.function, location)).or_default().extend(objects);
        }
        makers
    }
}

/// The host.
pub(crate) struct BlockHost<'s> {
    pub(crate) inner: Explorer<'s>,
    pub(crate) program: &'s Program<'s>,
    makers: Rc<Makers>,
    /// The function that was entered.
    entered: FunctionId,
    /// What its arguments are.
    actuals: Vec<Actual>,
    /// Cells that may be null on entry.
    bits: BTreeSet<Var>,
    /// What the code that is executed here touches itself.
    pub(crate) own: Footprint,
    /// Globals that the code executed here can name. Any other is met, if at all, through a pointer, and is then no
    /// different from what the pointer leads to otherwise.
    named: FxHashSet<GlobalId>,
    /// Calls of typed code, by the name of a pointer that each leaves in the states it happened in: what it may have
    /// changed, and what of that may be null.
    pub(crate) calls: FxHashMap<String, (Rc<Footprint>, Rc<BTreeSet<Var>>)>,
    /// What pointers that calls of typed code left may be, by the name of the pointer.
    pub(crate) left: FxHashMap<String, Actual>,
    /// What discovered objects stand for, by the name of the pointer that led to them. Names are paths from an argument, a
    /// global or what a call left; should two be the same, the object stands for both.
    stands: RefCell<FxHashMap<String, BTreeSet<Abstract>>>,
    /// Functions whose calls are answered here.
    pub(crate) answered: FxHashSet<FunctionId>,
    /// Instructions that may follow an address that was computed from null.
    near_uses: Rc<FxHashSet<Site>>,
    /// Null errors: what and where.
    pub(crate) problems: BTreeSet<(Kind, Site)>,
    plant: Option<Mistake>,
}

impl<'s> BlockHost<'s> {
    #[allow(clippy::too_many_arguments, reason = "the parts of a context")]
    pub(crate) fn new(
        inner: Explorer<'s>,
        program: &'s Program<'s>,
        makers: Rc<Makers>,
        entered: FunctionId,
        actuals: Vec<Actual>,
        bits: BTreeSet<Var>,
        own: Footprint,
        named: FxHashSet<GlobalId>,
        answered: FxHashSet<FunctionId>,
        near_uses: Rc<FxHashSet<Site>>,
        plant: Option<Mistake>,
    ) -> Self {
        BlockHost {
            inner,
            program,
            makers,
            entered,
            actuals,
            bits,
            own,
            named,
            calls: FxHashMap::default(),
            left: FxHashMap::default(),
            stands: RefCell::default(),
            answered,
            near_uses,
            problems: BTreeSet::new(),
            plant,
        }
    }

    /// The cell at an offset of an abstract object.
    pub(crate) fn cell(&self, object: Abstract, at: u64) -> Option<Var> {
        let Program { module, points, graph, .. } = self.program;
        points.cell(module, object, at as i64).map(|cell| graph.cell(cell))
    }

    /// Whether a global cannot be named here.
    pub(crate) fn is_apart(&self, id: ObjectId) -> bool {
        (id.0 as usize) < self.program.module.globals.len() && !self.named.contains(&GlobalId(id.0))
    }

    /// What an object stands for.
    pub(crate) fn stands_for(&self, state: &State<Sym<'s>>, id: ObjectId) -> BTreeSet<Abstract> {
        let Program { module, points, .. } = self.program;
        let flows = &points.flows;
        if (id.0 as usize) < module.globals.len() {
            return flows.object(ObjectKind::Global(GlobalId(id.0))).into_iter().collect();
        }
        if let Some(known) = state.input_objects.iter().find(|o| o.object == id) {
            return self.stands.borrow().get(&known.name).cloned().unwrap_or_default();
        }
        if state.private_inputs.iter().any(|o| o.object == id) {
            let parameters = module.function(self.entered).parameters.len() as u32;
            return (0..parameters).filter_map(|n| flows.object(ObjectKind::Copy(self.entered, n))).collect();
        }
        let object = state.memory.object(id);
        if let (Some(variable), ObjectSort::Stack(_)) = (object.variable, object.kind) {
            return self.makers.variables.get(&variable).into_iter().flatten().copied().collect();
        }
        self.makers.places.get(&(object.made_in, object.made_at)).into_iter().flatten().copied().collect()
    }

    /// Calls of typed code on the path of a state.
    pub(crate) fn calls_on<'h>(
        &'h self,
        state: &'h State<Sym<'s>>,
    ) -> impl Iterator<Item = &'h (Rc<Footprint>, Rc<BTreeSet<Var>>)> {
        state
            .tokens
            .iter()
            .filter(|t| matches!(t.origin, Origin::Havoc { cell: None, .. }))
            .filter_map(|t| self.calls.get(&t.name))
    }

    /// Whether a cell may be null where the block has not looked: on entry, or after a call that may have changed it.
    pub(crate) fn unseen_null(&self, state: &State<Sym<'s>>, var: Var) -> bool {
        let declared = self.program.nonnull.contains_key(&var);
        (self.bits.contains(&var) && !declared) || self.calls_on(state).any(|(_, nulls)| nulls.contains(&var))
    }

    /// What an undecided pointer may be.
    pub(crate) fn info(&self, state: &State<Sym<'s>>, token: &Token<Sym<'s>>) -> Actual {
        let points = self.program.points;
        let mut info = match token.origin {
            Origin::Parameter(index) => self.actuals.get(index as usize).cloned().unwrap_or_default(),
            Origin::Cell(object, at) => {
                let mut info = Actual::default();
                for a in self.stands_for(state, object) {
                    let Some(cell) = points.cell(self.program.module, a, at as i64) else { continue };
                    info.null |= self.unseen_null(state, self.program.graph.cell(cell));
                    info.points.extend(points.pointees(points.held(cell).2));
                }
                // A structure that is passed in pieces: each of its pointers may be any of them.
                let passed = state.private_inputs.iter().any(|o| o.object == object);
                if passed && self.stands_for(state, object).is_empty() {
                    for actual in &self.actuals {
                        info.null |= actual.null;
                        info.points.extend(&actual.points);
                    }
                }
                // Nothing in the program sets it: it is what it was at the start.
                info.null |= info.points.is_empty() && self.starts_null(object, at);
                info
            }
            Origin::Havoc { .. } => self.left.get(&token.name).cloned().unwrap_or_default(),
        };
        info.points.sort_unstable();
        info.points.dedup();
        if self.plant == Some(Mistake::NeverNull) {
            info.null = false;
        }
        info
    }

    /// Whether a cell of a global variable starts as null.
    fn starts_null(&self, object: ObjectId, at: u64) -> bool {
        let flows = &self.program.points.flows;
        let is_global = (object.0 as usize) < self.program.module.globals.len();
        let global = is_global.then(|| flows.object(ObjectKind::Global(GlobalId(object.0)))).flatten();
        let null = |(o, offset, value): &(Abstract, i64, Value)| {
            Some(*o) == global && *offset == at as i64 && matches!(value, Value::Null)
        };
        global.is_some() && flows.initial.iter().any(null)
    }

    /// What a pointer may point to that has no name in the block.
    fn unnamed(&self, state: &State<Sym<'s>>, info: &Actual) -> Vec<(Abstract, i64)> {
        let globals = self.program.module.globals.len() as u32;
        let known = state.input_objects.iter().filter(|o| o.object.0 < globals);
        let named: BTreeSet<Abstract> = known.flat_map(|o| self.stands_for(state, o.object)).collect();
        let code = |o: Abstract| matches!(self.program.points.object(o).kind, ObjectKind::Function(_));
        info.points.iter().copied().filter(|(o, _)| !named.contains(o) && !code(*o)).collect()
    }

    /// Whether a pointer may be an object that stands for these, at an offset.
    fn reaches(&self, info: &Actual, stands: &BTreeSet<Abstract>, at: Option<u64>) -> bool {
        let Program { module, points, .. } = self.program;
        info.points.iter().any(|(object, offset)| {
            stands.contains(object)
                && match at {
                    Some(at) if *offset != ANYWHERE => points.class(module, *object, at as i64) == *offset,
                    _ => true,
                }
        })
    }

    /// Whether an access leaves unknown memory because only so much of it is followed here, and not because the
    /// program leaves its object: that it does even where every array is as long as can be.
    fn beyond(&mut self, state: &State<Sym<'s>>, guard: &Formula) -> bool {
        let store = self.inner.core().store;
        let most = store.number(64, self.inner.input_bounds().array.into());
        let mut longest = store.boolean(true);
        for object in state.input_objects.iter().filter(|o| self.inner.value(64, &o.count).is_none()) {
            longest = store.and(longest, store.eq(object.count, most));
        }
        if matches!(self.inner.split(&state.path, &longest), Split::False | Split::Neither) {
            return true;
        }
        let both = store.and(longest, *guard);
        !matches!(self.inner.split(&state.path, &both), Split::False | Split::Neither)
    }

    /// Code that is not executed follows a pointer that may be null, or `near` null.
    pub(crate) fn follows_null(&mut self, state: &State<Sym<'s>>, null: bool, near: bool) {
        if let Some(site) = self.site(state)
            && (null || near && self.near_uses.contains(&site))
        {
            self.problems.insert((Kind::NullDereference, site));
        }
    }

    /// The instruction that a state is at, in the program's own code.
    pub(crate) fn site(&self, state: &State<Sym<'s>>) -> Option<Site> {
        let (depth, _) = state.user_location(self.program.module);
        let frame = state.frames.get(depth)?;
        Some(Site { function: frame.function, block: frame.block, index: frame.index.checked_sub(1)? })
    }
}

impl<'s> Oracle<Sym<'s>> for BlockHost<'s> {
    fn core(&self) -> &Sym<'s> {
        self.inner.core()
    }
    fn truth(&self, b: &Formula) -> Option<bool> {
        self.inner.truth(b)
    }
    fn value(&self, width: Width, v: &Term) -> Option<Bits> {
        self.inner.value(width, v)
    }
    fn steps(&self, number: &Term) -> Option<Steps<Sym<'s>>> {
        self.inner.steps(number)
    }
    fn split(&mut self, path: &Path<Sym<'s>>, b: &Formula) -> Split {
        self.inner.split(path, b)
    }
    fn take(&mut self, path: &mut Path<Sym<'s>>, condition: Formula) {
        self.inner.take(path, condition);
    }
    fn example(&mut self, path: &Path<Sym<'s>>, width: Width, v: &Term) -> Option<Bits> {
        self.inner.example(path, width, v)
    }
    fn undefined_matters(&mut self, path: &Path<Sym<'s>>, b: &Formula) -> Option<(Formula, Formula)> {
        self.inner.undefined_matters(path, b)
    }
}

impl<'s> Inputs<Sym<'s>> for BlockHost<'s> {
    fn undefined(&mut self, width: Width) -> Term {
        self.inner.undefined(width)
    }
    fn input(&mut self, state: &mut State<Sym<'s>>, width: Width, name: &str) -> Term {
        self.inner.input(state, width, name)
    }
    fn unknown(&mut self, state: &mut State<Sym<'s>>, width: Width, name: &str) -> Result<Term, String> {
        self.inner.unknown(state, width, name)
    }
    fn selector(&mut self, width: Width, name: &str) -> Term {
        self.inner.selector(width, name)
    }
    fn memory_map(&mut self, name: &str, undefined: bool) -> FuncExpr {
        self.inner.memory_map(name, undefined)
    }
    fn input_bounds(&self) -> InputBounds {
        self.inner.input_bounds()
    }
    fn may_be(&self, state: &State<Sym<'s>>, id: TokenId, candidate: Candidate) -> bool {
        let token = &state.tokens[id.0 as usize];
        let info = self.info(state, token);
        match candidate {
            Candidate::Null => info.null,
            Candidate::Known(object, at) | Candidate::Made(object, at) => {
                if matches!(candidate, Candidate::Made(..))
                    && self.plant == Some(Mistake::OwnObjectsDoNotAlias)
                {
                    return false;
                }
                self.reaches(&info, &self.stands_for(state, object), at)
            }
            Candidate::Function(function) => {
                let object = self.program.points.flows.object(ObjectKind::Function(function));
                object.is_some_and(|object| info.points.iter().any(|(o, _)| *o == object))
            }
            Candidate::New(ty, at) => {
                // Everything it may point to that is not offered by its name; what came from outside has no name.
                let rest = self.unnamed(state, &info);
                let Program { module, points, .. } = self.program;
                if ty.is_some() && strip(module, ty) != strip(module, token.pointee) {
                    // A structure around what it points to: only where the block looks at other parts of one.
                    return rest.iter().any(|&(o, offset)| {
                        let fits = offset == ANYWHERE || points.class(module, o, at as i64) == offset;
                        let elsewhere = |place: i64| place != offset && place != ANYWHERE;
                        fits && self.own.touched.iter().any(|&(other, at)| other == o && elsewhere(at))
                    });
                }
                let unset = matches!(token.origin, Origin::Cell(o, at) if self.starts_null(o, at));
                let wanted = !rest.is_empty() || (info.points.is_empty() && !unset);
                let rest = rest.into_iter().map(|(o, _)| o);
                self.stands.borrow_mut().entry(token.name.clone()).or_default().extend(rest);
                wanted
            }
        }
    }
    fn places(&self, state: &State<Sym<'s>>, id: TokenId, object: ObjectId) -> Option<Vec<Spots>> {
        let Program { module, points, .. } = self.program;
        // Variables are laid out as they are; a discovered object may begin anywhere in what it stands for.
        if object.0 as usize >= module.globals.len() {
            return Some(vec![Spots::Anywhere]);
        }
        let stands = self.stands_for(state, object);
        let info = self.info(state, &state.tokens[id.0 as usize]);
        let mut spots = BTreeSet::new();
        for (o, class) in info.points.into_iter().filter(|(o, _)| stands.contains(o)) {
            match points.spread(module, o, class) {
                Some((at, steps)) => spots.insert(Spots::At(at, steps)),
                None => return Some(vec![Spots::Anywhere]),
            };
        }
        Some(spots.into_iter().collect())
    }
    fn null_alone(&self) -> bool {
        true
    }
    fn made_before(&self, state: &State<Sym<'s>>, token: &Token<Sym<'s>>) -> u32 {
        match token.origin {
            Origin::Havoc { made, .. } => made,
            // A cell that is first looked at after a call that may have changed it: it may hold what the block made.
            Origin::Cell(object, at) => {
                let cells = self.stands_for(state, object).into_iter().filter_map(|a| self.cell(a, at));
                let changed =
                    |cell| self.calls_on(state).any(|(footprint, _)| footprint.changed.contains(&cell));
                if cells.into_iter().any(changed) { state.memory.len() as u32 } else { 0 }
            }
            Origin::Parameter(_) => 0,
        }
    }
    fn answers(&self, function: FunctionId) -> bool {
        self.answered.contains(&function)
    }
    fn random_inputs(&self) -> bool {
        self.inner.random_inputs()
    }
    fn failing_allocation(&self) -> bool {
        self.inner.failing_allocation()
    }
}

impl BlockHost<'_> {
    /// The world is open to a check: any file may be there, any variable be set, any call fail. Functions that ask for it are answered
    /// as unknown; a model that asks all the same sees one world, so that the block refutes nothing.
    fn outside(&mut self, what: impl std::fmt::Display) {
        self.inner.bounded(Bound::Unsupported(format!("what {what} may be in another run")));
    }
}

impl<'s> System<Sym<'s>> for BlockHost<'s> {
    fn read(&mut self, state: &mut State<Sym<'s>>, file: i32, count: u64) -> Option<Vec<Term>> {
        self.outside(if file == 0 { "standard input" } else { "an open file" });
        self.inner.read(state, file, count)
    }
    fn write(&mut self, state: &mut State<Sym<'s>>, file: i32, bytes: &[Term]) -> bool {
        self.outside("a file that is written");
        self.inner.write(state, file, bytes)
    }
    fn write_number(&mut self, state: &mut State<Sym<'s>>, file: i32, value: &Term, form: Form) {
        self.outside("a file that is written");
        self.inner.write_number(state, file, value, form);
    }
    fn request(&mut self, state: &mut State<Sym<'s>>, request: &Request<'_>) -> Result<i64, i32> {
        match request {
            Request::Open { path, .. } => {
                self.outside(format_args!("the file {}", String::from_utf8_lossy(path)));
            }
            _ => self.outside("an open file"),
        }
        self.inner.request(state, request)
    }
    fn status(&mut self, state: &mut State<Sym<'s>>, of: FileName<'_>) -> Result<FileStatus, i32> {
        match of {
            FileName::Path(path) => {
                self.outside(format_args!("the file {}", String::from_utf8_lossy(path)));
            }
            _ => self.outside("an open file"),
        }
        self.inner.status(state, of)
    }
    fn entries(&mut self, state: &mut State<Sym<'s>>, path: &[u8]) -> Result<Vec<Vec<u8>>, i32> {
        self.outside(format_args!("the folder {}", String::from_utf8_lossy(path)));
        self.inner.entries(state, path)
    }
    fn names(&mut self, state: &mut State<Sym<'s>>) -> Vec<Vec<u8>> {
        self.outside("a file of unknown name");
        self.inner.names(state)
    }
    /// Any of them may fail.
    fn failing_calls(&self) -> u32 {
        u32::MAX
    }
    fn time(&mut self, state: &mut State<Sym<'s>>) -> Term {
        self.outside("the time");
        self.inner.time(state)
    }
    fn unset(&mut self, name: &[u8]) {
        self.outside(format_args!("the environment variable {}", String::from_utf8_lossy(name)));
        self.inner.unset(name);
    }
}

impl<'s> Reporter<Sym<'s>> for BlockHost<'s> {
    fn checks(&self) -> Checks {
        Checks::default()
    }
    fn problem(&mut self, state: &State<Sym<'s>>, kind: Problem, guard: &Formula, detail: String) {
        let found = match kind {
            Problem::NullDereference => Kind::NullDereference,
            Problem::NullArgument => Kind::NullToNonnull,
            // Unknown memory is only so large here: beyond it nothing was looked at.
            Problem::OutOfBounds => {
                if self.beyond(state, guard) {
                    let words = format!("memory beyond what is followed: {detail}");
                    self.inner.bounded(Bound::Unsupported(words));
                }
                // An address before null, or far behind it, is no address of an object either.
                if let Some(site) = self.site(state).filter(|site| self.near_uses.contains(site)) {
                    self.problems.insert((Kind::NullDereference, site));
                }
                return;
            }
            // What is undefined for another reason ends a path, and is not ours to report.
            _ => return,
        };
        if let Some(site) = self.site(state) {
            self.problems.insert((found, site));
        }
    }
    /// What the machine assumes of unknown memory is what every check assumes, but for its size: beyond that the block is bounded.
    /// What is assumed of the world goes to the ledger by itself.
    fn assume(&mut self, _premise: Premise) {}
    fn bounded(&mut self, bound: Bound) {
        self.inner.bounded(bound);
    }
    /// Unknown memory has few elements here, so that places in it are never far apart: what the program does with the distance of two
    /// pointers, or with their order, is seen for near ones alone.
    fn relates(&mut self, _state: &State<Sym<'s>>, _one: TokenId, _other: TokenId, how: Relation) {
        if how != Relation::Equated {
            self.inner.bounded(Bound::Unsupported("the distance of two unknown pointers".into()));
        }
    }
    fn enter_block(&mut self, state: &mut State<Sym<'s>>) {
        self.inner.enter_block(state);
    }
}
