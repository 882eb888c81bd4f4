// run: eval
// run: path --through yes
// run: path --through no
// run: wlp --post 'y == 1'
// run: path --through yes --smt2
// Section 6, branching: the condition of each side.
if (x == 5) {
    yes: y = 1;
} else {
    no: y = 2;
}
