// run: eval
// run: run --set x=1 --set y=2
z = x < y ? 1 : 2;
w = *(p + 4);
