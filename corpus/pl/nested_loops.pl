// run: eval --unroll 2
// Turns that no input decides do not count against the bound: the inner loop is always followed to its end.
i = 0;
s = 0;
while (i < n) {
    j = 0;
    while (j < 20) {
        s = s + 1;
        j = j + 1;
    }
    i = i + 1;
}
