; A ring of nodes: the last leads back to the first. `removeBug` leaves the first node in place when it is removed.
(class Node ([Node next]) ())
(class Ring ([Node first])
  ((bool repOK
     (var Node node := (this $ first) in
     (var int fuel := 4 in
       (begin
         (if (node = null) (return true) else true)
         (while ((node $ next) != (this $ first))
           (begin
             (if ((node $ next) = null) (return false) else true)
             (if (fuel = 0) (return false) else true)
             (fuel := (fuel - 1))
             (node := (node $ next))))
         true))))

   (Node last
     (var Node node := (this $ first) in
       (begin
         (while ((node $ next) != (this $ first)) (node := (node $ next)))
         node)))

   (bool add
     (var Node made := (new Node) in
       (begin
         (if ((this $ first) = null)
             (begin (made $ next := made) (this $ first := made))
           else
             (begin (made $ next := (this $ first)) ((this @ last) $ next := made)))
         true)))

   (bool remove [bool bug]
     (var Node last := null in
       (begin
         (if ((this $ first) = null) (return false) else true)
         (last := (this @ last))
         (if (last = (this $ first)) (begin (this $ first := null) (return true)) else true)
         (last $ next := ((this $ first) $ next))
         (if bug null else (this $ first := ((this $ first) $ next)))
         true)))

   (bool check (begin (this @ remove false) (this @ add) (assert (this @ repOK))))
   (bool checkBug (begin (this @ remove true) (assert (this @ repOK))))))
(Ring check)
