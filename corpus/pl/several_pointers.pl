// run: wlp --post 'x == 1'
// All aliasing combinations of two pointers.
*p = 1;
*q = 2;
