# The last moment of the run: who crashed, called by whom, and which guest was it looking at?
crash = the_execution.get_at(the_execution.get_time())
print(crash.backtrace())
find = crash.backtrace()[1]
print("guest =", find.read_var("guest"))
