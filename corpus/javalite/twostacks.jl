; A queue of two stacks: what comes in, and what goes out. With `bug`, turning the one into the other drops the last.
(class Node ([Node next]) ())
(class TwoStacks ([Node incoming] [Node outgoing] [int size])
  ((int count [Node node]
     (var int count := 0 in
       (begin
         (while (node != null)
           (begin
             (if (count = 4) (return 100) else 0)
             (count := (count + 1))
             (node := (node $ next))))
         count)))

   (bool repOK
     (begin
       (if (4 < (this @ count (this $ incoming))) (return false) else true)
       (if (4 < (this @ count (this $ outgoing))) (return false) else true)
       ((this $ size) = ((this @ count (this $ incoming)) + (this @ count (this $ outgoing))))))

   (bool turn [bool bug]
     (begin
       (while (if ((this $ incoming) = null) false else (if bug (((this $ incoming) $ next) != null) else true))
         (var Node node := (this $ incoming) in
           (begin
             (this $ incoming := (node $ next))
             (node $ next := (this $ outgoing))
             (this $ outgoing := node))))
       (this $ incoming := null)
       true))

   (bool dequeue [bool bug]
     (begin
       (if ((this $ outgoing) = null) (this @ turn bug) else true)
       (if ((this $ outgoing) = null) (return false) else true)
       (this $ outgoing := ((this $ outgoing) $ next))
       (this $ size := ((this $ size) - 1))
       true))

   (bool check (begin (this @ dequeue false) (assert (this @ repOK))))
   (bool checkBug (begin (this @ dequeue true) (assert (this @ repOK))))))
(TwoStacks check)
