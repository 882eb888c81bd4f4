; A doubly linked sorted list that knows its length, with a precondition that checks late: it walks first, and asks for the
; end, the links back and the order afterwards. `addBug` forgets a link back.
(class Node ([Node next] [Node prev] [int key]) ())
(class Late ([Node head] [int size])
  ((bool repOK
     (var Node node := (this $ head) in
     (var int n := 0 in
       (begin
         (if (8 < (this $ size)) (return false) else true)
         (while (if (node = null) false else (n < (this $ size)))
           (begin (n := (n + 1)) (node := (node $ next))))
         (if (n = (this $ size)) true else (return false))
         (if (node = null) true else (return false))
         (if ((this $ head) = null) (return true) else true)
         (node := (this $ head))
         (while ((node $ next) != null)
           (begin
             (if (((node $ next) $ prev) = node) true else (return false))
             (node := (node $ next))))
         (node := (this $ head))
         (while ((node $ next) != null)
           (begin
             (if (((node $ next) $ key) <= (node $ key)) (return false) else true)
             (node := (node $ next))))
         true))))

   (bool has [int key]
     (var Node node := (this $ head) in
       (begin
         (while (node != null)
           (begin (if ((node $ key) = key) (return true) else true) (node := (node $ next))))
         false)))

   (bool add [int key] [bool bug]
     (var Node made := (new Node) in
       (begin
         (if ((this $ head) = null) true else
           (begin
             (if (((this $ head) $ key) <= key) (return false) else true)
             (if bug true else (begin ((this $ head) $ prev := made) true))))
         (made $ key := key)
         (made $ next := (this $ head))
         (this $ head := made)
         (this $ size := ((this $ size) + 1))
         true)))

   (bool check [int key]
     (begin (assume ((this $ size) < 8)) (this @ add key false) (assert (this @ repOK))))
   (bool checkBug [int key]
     (begin (assume ((this $ size) < 8)) (this @ add key true) (assert (this @ repOK))))))
(Late check)
