# Who took the lock, who sold, and every access to the seat that was sold last.
box_office = the_execution.breakpoints("box_office")
telephone = the_execution.breakpoints("telephone")
sell = the_execution.breakpoints("sell")
_seats = the_execution.breakpoints("main").first().value.read_var("seats")
_sold = [int(snap.value.read_arg(0)) for snap in sell]
_twice = next(seat for seat in _sold if _sold.count(seat) > 1)
taken = the_execution.watchpoints(_seats[_twice]["taken"], rw=READ | WRITE)
races = analyses.races(the_execution, _seats[_twice]["taken"])
