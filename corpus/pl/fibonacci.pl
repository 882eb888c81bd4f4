// run: run
// run: wlp --post 'x == 8'
// Twice recursive: with a known argument all of it folds, whoever calls.
proc fib(n) {
    if (n < 2) { return n; }
    return fib(n - 1) + fib(n - 2);
}
proc next(n) { return fib(n + 1); }
x = next(5);
