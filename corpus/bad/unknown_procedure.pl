// run: eval
x = f(3);
