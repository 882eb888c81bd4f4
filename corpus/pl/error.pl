// run: path --through 8
// run: path --through ERROR --json
// run: wlp --post 'reached == 1'
// Fig. 6(a): which states lead to the error?
reached = 0;
*p = e;
if (x == 5)
    ERROR: reached = 1;
