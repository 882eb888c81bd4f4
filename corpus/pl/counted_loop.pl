// run: eval
// A loop whose count is known unrolls completely.
i = 0;
s = 0;
while (i < 4) {
    s = s + x;
    i = i + 1;
}
