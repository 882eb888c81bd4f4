// run: eval
x = 1; /* never closed
