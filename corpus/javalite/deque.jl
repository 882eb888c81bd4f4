; A double-ended queue of nodes linked both ways. With `bug`, taking the only node from the back leaves it in front.
(class Node ([Node next] [Node prev]) ())
(class Deque ([Node front] [Node back])
  ((bool repOK
     (var Node node := (this $ front) in
       (begin
         (if (node = null) (return ((this $ back) = null)) else true)
         (if ((node $ prev) != null) (return false) else true)
         (while ((node $ next) != null)
           (begin
             (if (((node $ next) $ prev) != node) (return false) else true)
             (node := (node $ next))))
         ((this $ back) = node))))

   (bool pushFront
     (var Node made := (new Node) in
       (begin
         (made $ next := (this $ front))
         (if ((this $ front) = null) (this $ back := made) else ((this $ front) $ prev := made))
         (this $ front := made)
         true)))

   (Node popBack [bool bug]
     (var Node node := (this $ back) in
       (begin
         (if (node = null) (return null) else null)
         (this $ back := (node $ prev))
         (if ((node $ prev) = null)
             (if bug null else (this $ front := null))
           else
             ((node $ prev) $ next := null))
         node)))

   (bool check (begin (this @ popBack false) (this @ pushFront) (assert (this @ repOK))))
   (bool checkBug (begin (this @ popBack true) (assert (this @ repOK))))))
(Deque check)
