// run: run --set x=4
// run: eval
// run: wlp --post '*p == 4'
// Section 6, dynamic allocation: a new location is a fresh logical constant, different from every other.
p = malloc(2);
*p = x;
q = malloc(1);
*q = 7;
*(p + 1) = *p + *q;
