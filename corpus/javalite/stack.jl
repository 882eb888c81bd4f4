; A stack of linked nodes that knows its size. `popBug` forgets to count down.
(class Node ([Node next] [int value]) ())
(class Stack ([Node top] [int size])
  ((bool repOK
     (var Node node := (this $ top) in
     (var int count := 0 in
       (begin
         (if (3 < (this $ size)) (return false) else true)
         (while (node != null)
           (begin
             (count := (count + 1))
             (if ((this $ size) < count) (return false) else true)
             (node := (node $ next))))
         (count = (this $ size))))))

   (bool push [int value]
     (var Node node := (new Node) in
       (begin
         (node $ value := value)
         (node $ next := (this $ top))
         (this $ top := node)
         (this $ size := ((this $ size) + 1))
         true)))

   (int pop
     (var Node node := (this $ top) in
       (begin
         (if (node = null) (return 0) else true)
         (this $ top := (node $ next))
         (this $ size := ((this $ size) - 1))
         (node $ value))))

   (int popBug
     (var Node node := (this $ top) in
       (begin
         (if (node = null) (return 0) else true)
         (this $ top := (node $ next))
         (node $ value))))

   (bool check (begin (assume (0 < (this $ size))) (this @ pop) (assert (this @ repOK))))
   (bool checkBug (begin (assume (0 < (this $ size))) (this @ popBug) (assert (this @ repOK))))))
(Stack check)
