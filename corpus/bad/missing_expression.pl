// run: eval
x = 1;
y = ;
