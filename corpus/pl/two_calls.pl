// run: run --set x=1
// run: eval
// One summary, applied twice by composition.
proc twice(a) { return a + a; }
x = twice(x);
x = twice(x);
