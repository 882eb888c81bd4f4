// run: eval
proc f(a, b) { return a; }
x = f(3);
