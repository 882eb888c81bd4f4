// run: eval
x = 4294967296;
