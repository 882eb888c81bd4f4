; A queue of linked nodes with both ends. `dequeueBug` leaves the tail behind when the queue becomes empty.
(class Node ([Node next]) ())
(class Queue ([Node head] [Node tail])
  ((bool repOK
     (var Node node := (this $ head) in
     (var int fuel := 4 in
       (begin
         (if (node = null) (return ((this $ tail) = null)) else true)
         (while ((node $ next) != null)
           (begin
             (if (fuel = 0) (return false) else true)
             (fuel := (fuel - 1))
             (node := (node $ next))))
         ((this $ tail) = node)))))

   (bool enqueue
     (var Node node := (new Node) in
       (begin
         (if ((this $ tail) = null)
             (this $ head := node)
           else
             ((this $ tail) $ next := node))
         (this $ tail := node)
         true)))

   (Node dequeue
     (var Node node := (this $ head) in
       (begin
         (if (node = null) (return null) else true)
         (this $ head := (node $ next))
         (if ((this $ head) = null) (this $ tail := null) else null)
         node)))

   (Node dequeueBug
     (var Node node := (this $ head) in
       (begin
         (if (node = null) (return null) else true)
         (this $ head := (node $ next))
         node)))

   (bool check (begin (this @ dequeue) (this @ enqueue) (assert (this @ repOK))))
   (bool checkBug (begin (this @ dequeueBug) (this @ enqueue) (assert (this @ repOK))))))
(Queue check)
