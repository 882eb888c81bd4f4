; A skip list of two levels: `next` visits every node, `far` some of them, in the same order. With `bug`, a node is
; unlinked from the lower level alone.
(class Node ([Node next] [Node far] [int key])
  ((bool reaches [Node other] [int fuel]
     (var Node node := (this $ next) in
       (begin
         (while (node != null)
           (begin
             (if (node = other) (return true) else true)
             (if (fuel = 0) (return false) else true)
             (fuel := (fuel - 1))
             (node := (node $ next))))
         false)))))
(class Skip ([Node head])
  ((bool repOK
     (var Node node := (this $ head) in
       (begin
         (if (node = null) (return false) else true)
         (while ((node $ next) != null)
           (begin
             (if (((node $ next) $ key) <= (node $ key)) (return false) else true)
             (node := (node $ next))))
         (node := (this $ head))
         (while ((node $ far) != null)
           (begin
             (if (node @ reaches (node $ far) 4) true else (return false))
             (node := (node $ far))))
         true)))

   (bool remove [int key] [bool bug]
     (var Node before := (this $ head) in
     (var Node above := (this $ head) in
     (var Node gone := null in
       (begin
         (while (if ((before $ next) = null) false else (((before $ next) $ key) < key)) (before := (before $ next)))
         (gone := (before $ next))
         (if (gone = null) (return false) else true)
         (if ((gone $ key) = key) true else (return false))
         (if bug true else
           (begin
             (while (if ((above $ far) = null) false else (((above $ far) $ key) < key)) (above := (above $ far)))
             (if ((above $ far) = gone) (above $ far := (gone $ far)) else null)
             true))
         (before $ next := (gone $ next))
         true)))))

   (bool check [int key] (begin (this @ remove key false) (assert (this @ repOK))))
   (bool checkBug [int key] (begin (this @ remove key true) (assert (this @ repOK))))))
(Skip check)
