"""An immutable red-black tree (Okasaki's insertion), as the dissertation's lazy_trace_rbtrees uses: not lazy."""

from __future__ import annotations

from typing import Any, Optional

Node = Optional[tuple]  # (is_red, left, key, value, right)


def _balanced(is_red: bool, left: Node, key: Any, value: Any, right: Node) -> Node:
    if not is_red:
        if left and left[0]:
            _, a, x, xv, b = left
            if a and a[0]:
                return (True, (False, *a[1:]), x, xv, (False, b, key, value, right))
            if b and b[0]:
                return (True, (False, a, x, xv, b[1]), b[2], b[3], (False, b[4], key, value, right))
        if right and right[0]:
            _, b, x, xv, c = right
            if b and b[0]:
                return (True, (False, left, key, value, b[1]), b[2], b[3], (False, b[4], x, xv, c))
            if c and c[0]:
                return (True, (False, left, key, value, b), x, xv, (False, *c[1:]))
    return (is_red, left, key, value, right)


def add(tree: Node, key: Any, value: Any) -> Node:
    def insert(node: Node) -> Node:
        if node is None:
            return (True, None, key, value, None)
        is_red, left, own, held, right = node
        if key < own:
            return _balanced(is_red, insert(left), own, held, right)
        if own < key:
            return _balanced(is_red, left, own, held, insert(right))
        return (is_red, left, key, value, right)

    return (False, *insert(tree)[1:])


def find(tree: Node, key: Any) -> Any:
    while tree is not None:
        _, left, own, held, right = tree
        if key == own:
            return held
        tree = left if key < own else right
    return None
