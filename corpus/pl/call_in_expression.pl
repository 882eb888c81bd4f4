// run: run --set y=3
// run: wlp --post 'z == 9'
// Calls inside expressions: each result is kept where nothing else can change it, before the statement goes on.
proc twice(a) { return a + a; }
z = twice(twice(y) - 2) + 1;
