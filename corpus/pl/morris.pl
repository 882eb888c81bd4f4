// run: wlp --post 'x == 5'
// run: eval
// run: wlp --post 'x == 5' --smt2
// run: wlp --post 'x == 5' --json
// Examples 3 and 4: Morris's rule of substitution comes out of reinterpretation.
*p = e;
