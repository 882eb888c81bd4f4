//! The guarded heap by itself: no language, one class.

use parallax_heap::*;
use parallax_term::{Scalar, Store};
use std::rc::Rc;

fn universe() -> Rc<Universe> {
    let node = ClassId(0);
    let field = |name: &str, kind| Field { name: name.into(), kind, acyclic: false };
    let fields = vec![
        field("a", FieldKind::Ref(node)),
        field("b", FieldKind::Ref(node)),
        field("n", FieldKind::Bits(32)),
    ];
    Rc::new(Universe {
        classes: vec![Class {
            name: "Node".into(),
            fields,
            element: None,
            instances: vec![node],
            left_out: None,
        }],
    })
}

fn heap(store: &Store, k: Option<usize>) -> (Guarded<'_>, Reference) {
    let options = Options { k, array: 0, draft: None };
    let mut heap = Guarded::new(Rc::new(oracle(store)), universe(), options, LeftOut::default());
    let root = heap.root(ClassId(0), "this", true);
    let this = heap.certainly(Target::Loc(root));
    (heap, this)
}

fn reference(cell: Cell) -> Reference {
    match cell {
        Cell::Ref(reference) => reference,
        Cell::Scalar(_) => panic!("a reference"),
    }
}

/// `this.a` is null, `this` or new; then `this.b` has one choice more where `this.a` was new: 3 + 3 + 4.
#[test]
fn models_are_the_heaps_of_lazy_initialisation() {
    let store = Store::new();
    let (mut heap, this) = heap(&store, None);
    heap.read(&this, 0).unwrap();
    assert_eq!(heap.models(100).unwrap().models.len(), 3);
    heap.read(&this, 1).unwrap();
    let models = heap.models(100).unwrap();
    assert!(models.complete);
    assert_eq!(models.models.len(), 10);
    assert!(!heap.models(9).unwrap().complete);
    // Reading again initialises nothing.
    heap.read(&this, 0).unwrap();
    assert_eq!(heap.selectors.len(), 2);
}

/// The published rule let `p = q` and `p.a != q.a` hold together: p = this.a; q = this.b; w = q.a; z = p.a.
#[test]
fn a_field_is_initialised_once() {
    let store = Store::new();
    let (mut heap, this) = heap(&store, None);
    let p = reference(heap.read(&this, 0).unwrap());
    let q = reference(heap.read(&this, 1).unwrap());
    let nonnull = |heap: Guarded<'_>, r: &Reference| {
        let (path, _) = heap.path.fork(&heap.oracle, store.not(heap.is_null(r)), Origin::Outcome).unwrap();
        path.unwrap()
    };
    heap.path = nonnull(heap.clone(), &q);
    let w = reference(heap.read(&q, 0).unwrap());
    heap.path = nonnull(heap.clone(), &p);
    let z = reference(heap.read(&p, 0).unwrap());
    let both = store.and(heap.same(&p, &q), store.not(heap.same(&w, &z)));
    assert!(heap.path.sat(&heap.oracle, both).unwrap().is_none());
    // It can be asked: p = q and w = z do hold together.
    let fine = store.and(heap.same(&p, &q), heap.same(&w, &z));
    assert!(heap.path.sat(&heap.oracle, fine).unwrap().is_some());
}

#[test]
fn a_write_under_a_guard_reaches_what_may_be_meant() {
    let store = Store::new();
    let (mut heap, this) = heap(&store, Some(1));
    let a = reference(heap.read(&this, 0).unwrap());
    let (path, _) = heap.path.fork(&heap.oracle, store.not(heap.is_null(&a)), Origin::Outcome).unwrap();
    heap.path = path.unwrap();
    let seven = Cell::Scalar(Scalar::Term(store.number(32, 7)));
    heap.write(&a, 2, &seven).unwrap();
    let Cell::Scalar(Scalar::Term(own)) = heap.read(&this, 2).unwrap() else { panic!("a number") };
    let is_seven = store.eq(own, store.number(32, 7));
    let alias = heap.same(&a, &this);
    // this.n is 7 for certain where a is this, and only perhaps elsewhere.
    let wrong = store.and(alias, store.not(is_seven));
    assert!(heap.path.sat(&heap.oracle, wrong).unwrap().is_none());
    let other = store.and(store.not(alias), store.not(is_seven));
    assert!(heap.path.sat(&heap.oracle, other).unwrap().is_some());
}

#[test]
fn pictures_name_what_they_show() {
    let store = Store::new();
    let (mut heap, this) = heap(&store, Some(1));
    heap.read(&this, 0).unwrap();
    let picture = draw::Picture::new(&heap, &[("this".into(), Cell::Ref(this))], None).unwrap();
    let svg = picture.svg();
    for text in ["Node", "this.a = null", "this.a is a new Node", "<circle"] {
        assert!(svg.contains(text), "{text}\n{svg}");
    }
    assert!(picture.dot().contains("this.a is a new Node"));
}
