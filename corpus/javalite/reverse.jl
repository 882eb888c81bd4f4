; Reversal of a list in place. `reverseBug` leaves out what was last.
(class Node ([Node next]) ())
(class Reverse ([Node head])
  ((bool repOK
     (var Node node := (this $ head) in
     (var int fuel := 3 in
       (begin
         (while (node != null)
           (begin
             (if (fuel = 0) (return false) else true)
             (fuel := (fuel - 1))
             (node := (node $ next))))
         true))))

   (int count
     (var Node node := (this $ head) in
     (var int found := 0 in
       (begin
         (while (node != null) (begin (found := (found + 1)) (node := (node $ next))))
         found))))

   (bool reverse
     (var Node done := null in
       (begin
         (while ((this $ head) != null)
           (var Node node := (this $ head) in
             (begin
               (this $ head := (node $ next))
               (node $ next := done)
               (done := node))))
         (this $ head := done)
         true)))

   (bool reverseBug
     (var Node done := null in
       (begin
         (if ((this $ head) = null) (return true) else true)
         (while (((this $ head) $ next) != null)
           (var Node node := (this $ head) in
             (begin
               (this $ head := (node $ next))
               (node $ next := done)
               (done := node))))
         (this $ head := done)
         true)))

   (bool check
     (var Node first := (this $ head) in
     (var int before := (this @ count) in
       (begin
         (this @ reverse)
         (assert ((this @ count) = before))
         (this @ reverse)
         (assert ((this $ head) = first))))))
   (bool checkBug
     (var int before := (this @ count) in
       (begin (this @ reverseBug) (assert ((this @ count) = before)))))))
(Reverse check)
