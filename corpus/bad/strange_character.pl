// run: eval
x = 1 @ 2;
