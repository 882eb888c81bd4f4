// run: run --set n=5
// A recursive call inside an expression, and one in the condition of a loop, which happens at every turn.
proc fact(n) {
    if (n <= 1) { return 1; }
    return n * fact(n - 1);
}
x = fact(n) - 1;
i = 0;
while (fact(i) < n) { i = i + 1; }
