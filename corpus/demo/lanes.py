# What happened over time, a lane each: parallax timeline stock.rec --script lanes.py -o timeline.html
adds = the_execution.breakpoints("add")
drops = the_execution.breakpoints("drop")
sells = the_execution.breakpoints("sell")
favourite = the_execution.watchpoints("favourite")
