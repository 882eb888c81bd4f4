// run: eval --from '({}, {F_rho -> F_rho[0 -> v][px -> py][py -> py]})'
// run: eval
// run: run --set px=&a --set py=&b --set a=1 --set b=2
// Fig. 1(b), and Fig. 5 (Example 2): from the state of Fig. 1(c) the swap fails, because px points to py.
*px = *px ^ *py;
*py = *px ^ *py;
*px = *px ^ *py;
a = a;
b = b;
