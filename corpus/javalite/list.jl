; A singly linked list and `contains`, called up to five times (the motivating example of the heap-summary papers).
; The precondition is Floyd's: a list is not empty and has no cycle.
(class Data () ())
(class Node ([Data elem] [Node next]) ())
(class List ([Node head] [Data d0] [Data d1] [Data d2] [Data d3] [Data d4])
  ((bool repOK
     (var Node slow := (this $ head) in
     (var Node fast := (this $ head) in
       (begin
         (if (fast = null) (return false) else true)
         (while true
           (begin
             (fast := (fast $ next))
             (if (fast = null) (return true) else true)
             (fast := (fast $ next))
             (if (fast = null) (return true) else true)
             (slow := (slow $ next))
             (if (slow = fast) (return false) else true)))))))

   (bool contains [Data val]
     (var Node node := (this $ head) in
       (while true
         (begin
           (if ((node $ elem) = val) (return true) else true)
           (if ((node $ next) = null) (return false) else true)
           (node := (node $ next))))))

   (bool run1 (this @ contains (this $ d0)))
   (bool run2 ((this @ run1) and (this @ contains (this $ d1))))
   (bool run3 ((this @ run2) and (this @ contains (this $ d2))))
   (bool run4 ((this @ run3) and (this @ contains (this $ d3))))
   (bool run5 ((this @ run4) and (this @ contains (this $ d4))))

   ; One `contains` with the reference handed in: what the published table calls LinkedList.
   (bool find [Data val] (this @ contains val))))
(List run5)
