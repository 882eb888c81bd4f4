// run: run --steps 1000
// run: wlp --post 'x == 1' --steps 1000
// A bound is said loudly. The weakest liberal precondition of what never ends is true; a bound cannot know that.
while (true) { x = x + 1; }
