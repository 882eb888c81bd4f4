# What happened over time, a lane each.
check_in = the_execution.breakpoints("check_in")
check_out = the_execution.breakpoints("check_out")
find = the_execution.breakpoints("find")

# The pointer that the crash followed, wherever it was read or written.
_where = the_execution.get_at(the_execution.get_time()).backtrace()[1]
_link = _where.read_var("guests")
while int(_link) != int(_where.read_var("guest")):
    _link = _link.deref()["next"]
bad_pointer = the_execution.watchpoints(_link, rw=READ | WRITE)
