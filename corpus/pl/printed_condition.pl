// run: wlp --post 'F_rho(x) = 5'
// A condition may be written as it is printed.
x = y + 2;
