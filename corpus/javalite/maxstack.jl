; A stack that knows its greatest element. With `bug`, a push takes the new element for the greatest.
(class Node ([Node below] [int value] [int most]) ())
(class MaxStack ([Node top])
  ((bool repOK
     (var Node node := (this $ top) in
     (var int fuel := 3 in
       (begin
         (while (node != null)
           (begin
             (if (fuel = 0) (return false) else true)
             (fuel := (fuel - 1))
             (if ((node $ below) = null)
                 (if ((node $ most) = (node $ value)) true else (return false))
               else
                 (if (((node $ below) $ most) < (node $ value))
                     (if ((node $ most) = (node $ value)) true else (return false))
                   else
                     (if ((node $ most) = ((node $ below) $ most)) true else (return false))))
             (node := (node $ below))))
         true))))

   (bool push [int value] [bool bug]
     (var Node node := (new Node) in
       (begin
         (node $ value := value)
         (node $ most := value)
         (node $ below := (this $ top))
         (if bug 0 else
           (if ((this $ top) = null) 0 else
             (if (value < ((this $ top) $ most)) (node $ most := ((this $ top) $ most)) else 0)))
         (this $ top := node)
         true)))

   (bool pop
     (begin
       (if ((this $ top) = null) (return false) else true)
       (this $ top := ((this $ top) $ below))
       true))

   (bool check [int value] (begin (this @ pop) (this @ push value false) (assert (this @ repOK))))
   (bool checkBug [int value] (begin (this @ pop) (this @ push value true) (assert (this @ repOK))))))
(MaxStack check)
