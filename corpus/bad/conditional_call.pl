// run: eval
proc f(a) { return a; }
x = y != 0 && f(y) > 2;
