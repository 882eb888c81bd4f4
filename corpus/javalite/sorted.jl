; A sorted list without repetitions: insertion. `insertBug` stops one node too late.
(class Node ([Node next] [int key]) ())
(class Sorted ([Node head])
  ((bool repOK
     (var Node node := (this $ head) in
       (begin
         (if (node = null) (return true) else true)
         (while ((node $ next) != null)
           (begin
             (if (((node $ next) $ key) <= (node $ key)) (return false) else true)
             (node := (node $ next))))
         true)))

   (bool insert [int key] [bool bug]
     (var Node before := null in
     (var Node node := (this $ head) in
     (var Node made := (new Node) in
       (begin
         (while (if (node = null) false else ((node $ key) < key))
           (begin (before := node) (node := (node $ next))))
         (if (node = null) true else (if ((node $ key) = key) (return false) else true))
         (if bug
             (if (node = null) null else (begin (before := node) (node := (node $ next))))
           else null)
         (made $ key := key)
         (made $ next := node)
         (if (before = null) (this $ head := made) else (before $ next := made))
         true)))))

   (bool check [int key] (begin (this @ insert key false) (assert (this @ repOK))))
   (bool checkBug [int key] (begin (this @ insert key true) (assert (this @ repOK))))))
(Sorted check)
