// run: run --set x=3 --set y=9
// run: eval
// run: wlp --post 'x == 9'
// Procedures: each call has an activation record of its own, a fresh logical constant.
proc max(a, b) {
    if (a < b) { return b; }
    return a;
}
x = max(x, y);
