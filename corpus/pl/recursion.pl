// run: run --set n=6
// run: eval --unroll 3
proc fact(n) {
    int rest;
    if (n <= 1) { return 1; }
    rest = fact(n - 1);
    return n * rest;
}
r = fact(n);
