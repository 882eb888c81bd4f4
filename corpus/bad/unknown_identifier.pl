// run: run --set nothing=3
// run: wlp --post 'x = 5'
// run: wlp --post 'x == '
// run: path --through nowhere
// run: run --set x=99999999999
// run: run --set 'x=y +'
// run: eval --from '({}, {F_rho -> F_rho[x -> 5:8]})'
// run: signs --set x=big
x = y;
