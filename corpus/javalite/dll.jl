; A doubly linked list. `removeBug` forgets the back pointer of the node that comes first afterwards.
(class Node ([Node next] [Node prev]) ())
(class DList ([Node head])
  ((bool repOK
     (var Node node := (this $ head) in
       (begin
         (if (node = null) (return true) else true)
         (if ((node $ prev) != null) (return false) else true)
         (while ((node $ next) != null)
           (begin
             (if (((node $ next) $ prev) != node) (return false) else true)
             (node := (node $ next))))
         true)))

   (bool add
     (var Node node := (new Node) in
     (var Node old := (this $ head) in
       (begin
         (node $ next := old)
         (if (old = null) null else (old $ prev := node))
         (this $ head := node)
         true))))

   (bool remove
     (var Node old := (this $ head) in
       (begin
         (if (old = null) (return false) else true)
         (this $ head := (old $ next))
         (if ((old $ next) = null) null else ((old $ next) $ prev := null))
         true)))

   (bool removeBug
     (var Node old := (this $ head) in
       (begin
         (if (old = null) (return false) else true)
         (this $ head := (old $ next))
         true)))

   (bool check (begin (this @ remove) (this @ add) (assert (this @ repOK))))
   (bool checkBug (begin (this @ removeBug) (assert (this @ repOK))))))
(DList check)
